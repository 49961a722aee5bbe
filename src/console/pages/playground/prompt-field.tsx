import { useId } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { Combobox } from '../../design/form/combobox.tsx'

const MOST = 20

/** A prompt that the gateway keeps: its latest version, one by number, or one by label. */
export function PromptField({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (reference: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>Prompt</label>
      <Combobox
        id={id}
        value={value}
        free
        placeholder="None"
        search={async (search) => {
          const { data } = await api('GET /ui/api/prompts', { query: { search, limit: MOST } })
          return data.flatMap(({ key, labels, latest }) => [
            { value: key, label: key, note: `version ${latest}` },
            ...Object.entries(labels).map(([label, version]) => ({
              value: `${key}:${label}`,
              label: `${key}:${label}`,
              note: `version ${version}`,
            })),
          ])
        }}
        onChange={(option) => onChange(option?.value ?? '')}
      />
    </div>
  )
}
