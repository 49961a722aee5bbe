import { useId } from 'preact/hooks'
import { labelsOf, type Prompt } from './prompt.ts'

/** The most versions of which one is chosen here; an older one is opened in the list. */
const MOST = 200

/** Chooses a version by its number, with what names it. */
export function VersionSelect({
  label,
  prompt,
  value,
  onChange,
}: {
  readonly label: string
  readonly prompt: Prompt
  readonly value: number
  readonly onChange: (version: number) => void
}) {
  const id = useId()
  const newest = Array.from({ length: Math.min(prompt.latest, MOST) }, (_, at) => prompt.latest - at)
  const named = Object.values(prompt.labels)
  const versions = [...new Set([...newest, ...named, value])].sort((one, other) => other - one)
  return (
    <span class="row">
      <label class="quiet" for={id}>
        {label}
      </label>
      <select
        id={id}
        class="input order"
        value={String(value)}
        onChange={(event) => onChange(Number(event.currentTarget.value))}
      >
        {versions.map((version) => (
          <option key={version} value={String(version)}>
            {[String(version), ...wordsOf(prompt, version)].join(' · ')}
          </option>
        ))}
      </select>
    </span>
  )
}

const wordsOf = (prompt: Prompt, version: number): string[] => [
  ...labelsOf(prompt, version),
  ...(version === prompt.latest ? ['newest'] : []),
]
