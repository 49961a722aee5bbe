import type { Answer } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { useMay } from '../../data/session.ts'
import { AwaitedCall } from '../../design/call/awaited-call.tsx'
import { CallCode } from '../../design/call/call-code.tsx'
import { Section } from '../../design/page.tsx'

/** The gateway answers this model out of itself. */
const ITSELF = 'echo'

/** How to call; and while nobody has, what it takes before. */
export function FirstCall({
  health,
  quiet,
  opens,
}: {
  readonly health: Answer<'GET /health/deployments'> | undefined
  readonly quiet: boolean
  readonly opens: (page: string) => boolean
}) {
  const may = useMay()
  if (!health) return null
  const real = health.deployments.find(({ provider }) => provider !== ITSELF)
  const model = (real ?? health.deployments[0])?.model_name
  const keys = opens('keys') && may('key.update') ? 'keys' : opens('my-keys') ? 'my-keys' : undefined
  return (
    <Section title={quiet ? 'No calls yet in this time' : 'How to call'}>
      {quiet && (
        <ol class="steps">
          {opens('deployments') && (
            <li>
              {real ? (
                <>
                  There is a provider: <a href={pathTo('deployments')}>{real.provider}</a>.
                </>
              ) : (
                <>
                  <a href={pathTo('deployments')}>Add a provider</a>. Until then {ITSELF} answers with what it is asked.
                </>
              )}
            </li>
          )}
          {keys && (
            <li>
              <a href={pathTo(keys)}>Make a key</a>, which says whose call it is.
            </li>
          )}
          <li>Call with it. The call then appears here and under Requests.</li>
        </ol>
      )}
      {model === undefined ? <p class="quiet">There is no model yet that you may call.</p> : <CallCode model={model} />}
      {quiet && model !== undefined && <AwaitedCall query={may('spend.read') ? {} : { owner: 'me' }} />}
    </Section>
  )
}
