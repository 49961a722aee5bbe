import { ButtonLink } from '../button.tsx'

/** A list as a file. */
export function Downloads({
  file,
  most,
}: {
  /** The address of the file in a format. */
  readonly file: (format: 'csv' | 'jsonl') => string
  /** What the file has at most, in words. */
  readonly most?: string | undefined
}) {
  return (
    <span data-export class="row" title={most}>
      <ButtonLink small icon="download" download href={file('csv')}>
        CSV
      </ButtonLink>
      <ButtonLink small icon="download" download href={file('jsonl')}>
        JSONL
      </ButtonLink>
    </span>
  )
}
