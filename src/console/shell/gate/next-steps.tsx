import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { queries, useApi } from '../../data/query.ts'
import { Button, ButtonLink } from '../../design/button.tsx'
import { AwaitedCall } from '../../design/call/awaited-call.tsx'
import { CallCode } from '../../design/call/call-code.tsx'
import { Failure, Loaded, Notice } from '../../design/states.tsx'
import { Card } from './card.tsx'

/** A link into the console, which then learns anew who it is. */
const go = (href: string) => ({ href, onClick: () => void queries.resetQueries() })

/** What follows the first account: a provider, and a first call. Each can be skipped; the overview goes on with them. */
export function NextSteps() {
  const [step, setStep] = useState<'provider' | 'call'>('provider')
  if (step === 'call') return <FirstCall />
  return (
    <Card title="You are its administrator">
      <p>
        Next, add a provider, whose models the gateway calls. You can do it later: echo needs none, and repeats what it
        is asked.
      </p>
      <div class="stack">
        <Button kind="primary" class="wide" onClick={() => setStep('call')}>
          Go on with echo
        </Button>
        <ButtonLink {...go('/console/deployments?new=1')}>Add a provider</ButtonLink>
        <ButtonLink kind="plain" {...go('/console')}>
          To the console
        </ButtonLink>
      </div>
    </Card>
  )
}

function FirstCall() {
  const made = useChange('POST /ui/api/keys')
  const models = useApi('GET /ui/api/callable-models', { query: { limit: 1 } })
  const key = made.data
  return (
    <Card title="A first call">
      {key ? (
        <>
          <Notice tone="warn">This key is shown now and never again.</Notice>
          <Loaded of={models}>
            {({ data: [model] }) =>
              model ? (
                <CallCode model={model.name} mode={model.modes[0]} apiKey={key.key} />
              ) : (
                <p>There is no model yet: add a provider first.</p>
              )
            }
          </Loaded>
          <AwaitedCall query={{ key_id: key.key_id }} />
        </>
      ) : (
        <>
          <p>Every call needs a key, which says whose call it is.</p>
          {made.error && <Failure error={made.error} />}
          <Button
            kind="primary"
            class="wide"
            busy={made.isPending}
            onClick={() => made.mutate({ body: { key_name: 'first key' } })}
          >
            Make a key
          </Button>
        </>
      )}
      <ButtonLink kind={key ? 'primary' : 'plain'} {...go('/console')}>
        To the console
      </ButtonLink>
    </Card>
  )
}
