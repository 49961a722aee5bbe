import { useApi } from '../../data/query.ts'
import { Button } from '../../design/button.tsx'
import { CallCode } from '../../design/call/call-code.tsx'
import { Code } from '../../design/code.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Notice } from '../../design/states.tsx'

export interface MadeKey {
  readonly key_id: string
  readonly key_name: string | null
  readonly key: string
}

/** A key, this once: nothing but its own button closes it. */
export function KeyMade({ made, onClose }: { readonly made: MadeKey; readonly onClose: () => void }) {
  const models = useApi('GET /ui/api/callable-models', { query: { key_id: made.key_id, limit: 2 } })
  // What a newcomer has added comes before what every gateway has.
  const first = models.data?.data.find(({ name }) => name !== 'echo') ?? models.data?.data[0]
  return (
    <Dialog
      title={`The key ${made.key_name ?? made.key_id}`}
      wide
      stays
      onClose={onClose}
      onSubmit={onClose}
      footer={
        <Button type="submit" kind="primary">
          I have saved it
        </Button>
      }
    >
      <Notice tone="warn">It is shown only now. If it is lost, Regenerate makes another.</Notice>
      <Code text={made.key} label="The key" wrap />
      {first ? (
        <CallCode model={first.name} mode={first.modes[0]} apiKey={made.key} />
      ) : (
        models.data && <p class="quiet">It may call no model yet: see its access.</p>
      )}
    </Dialog>
  )
}
