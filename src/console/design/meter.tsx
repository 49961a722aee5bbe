/** The used part of a limit, as text and as a bar. */
export function Meter({
  used,
  of,
  text,
  full = false,
  plain = false,
}: {
  readonly used: number
  /** null: there is no limit, and no bar. */
  readonly of: number | null | undefined
  readonly text: string
  readonly full?: boolean
  /** A plain share: a high value is not shown as a warning. */
  readonly plain?: boolean
}) {
  if (of === null || of === undefined) return <span>{text}</span>
  const part = of > 0 ? Math.min(1, used / of) : used > 0 || of === 0 ? 1 : 0
  const tone = plain ? 'ok' : part >= 1 ? 'bad' : part >= 0.8 ? 'warn' : 'ok'
  return (
    <span class={`meter ${tone}${full ? ' full' : ''}`}>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="6" />
        <rect class="fill" width={100 * part} height="6" />
      </svg>
      <span>{text}</span>
    </span>
  )
}
