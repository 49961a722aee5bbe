import { useApi } from '../../data/query.ts'
import { useMay, useSession } from '../../data/session.ts'
import { CallCode } from '../../design/call/call-code.tsx'
import { Empty } from '../../design/states.tsx'

/** Before the first call of a range: how to make one. The list asks on; the call takes the place of this. */
export function FirstCall({ waits }: { readonly waits: boolean }) {
  const may = useMay()
  const { pages } = useSession()
  const mine = may('key.read') ? {} : { owner: 'me' as const }
  const keys = useApi(
    'GET /ui/api/keys',
    { query: { ...mine, state: 'active', limit: 1 } },
    { enabled: pages.includes('keys') || pages.includes('my-keys') },
  )
  const models = useApi('GET /ui/api/callable-models', { query: { limit: 2 } })
  const key = keys.data?.data[0]
  // What a newcomer has added comes before what every gateway has.
  const model = models.data?.data.find(({ name }) => name !== 'echo') ?? models.data?.data[0]
  return (
    <>
      <Empty title="No calls in this range">
        {waits ? (
          <span class="waits" role="status">
            Waiting for the first call: it appears here a moment after it has ended.
          </span>
        ) : (
          'A call appears here a moment after it has ended.'
        )}
      </Empty>
      {model && (
        <div class="stack centred">
          <CallCode model={model.name} mode={model.modes[0]} />
          {key && <p class="quiet small">A key that may be used: “{key.key_name ?? key.key_id}”.</p>}
        </div>
      )}
    </>
  )
}
