import { CopyButton } from './button.tsx'

/** A block of code with a button to copy it. */
export function Code({
  text,
  wrap = false,
  label,
}: {
  readonly text: string
  readonly wrap?: boolean
  readonly label?: string
}) {
  return (
    <div class="code">
      <pre class={wrap ? 'wrap' : undefined} tabIndex={0} role="region" aria-label={label ?? 'Code'}>
        {text}
      </pre>
      <CopyButton text={text}>Copy</CopyButton>
    </div>
  )
}
