import { useId } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { Combobox } from '../../design/form/combobox.tsx'

export type Mode =
  | 'chat'
  | 'embedding'
  | 'image_generation'
  | 'audio_speech'
  | 'audio_transcription'
  | 'rerank'
  | 'moderation'

const MOST = 30
const KINDS = { model: undefined, route_group: 'route group', alias: 'alias' } as const

/** A model that the key may call. Any other name may be typed too: one sees what a client would be answered. */
export function ModelField({
  keyId,
  mode,
  label,
  value,
  onChange,
}: {
  readonly keyId: string
  readonly mode: Mode
  readonly label: string
  readonly value: string
  readonly onChange: (model: string) => void
}) {
  const id = useId()
  return (
    <div class="field grow">
      <label for={id}>{label}</label>
      <Combobox
        id={id}
        value={value}
        free
        placeholder="Choose or type a name"
        search={async (search) => {
          const { data } = await api('GET /ui/api/callable-models', {
            query: { key_id: keyId, mode, search, limit: MOST },
          })
          return data.map(({ name, kind, health }) => ({
            value: name,
            label: name,
            note: health === 'healthy' ? KINDS[kind] : health,
          }))
        }}
        onChange={(option) => onChange(option?.value ?? '')}
      />
    </div>
  )
}
