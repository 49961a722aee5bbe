import { pathTo } from '../../data/params.ts'
import { useMay, useSession } from '../../data/session.ts'
import { Button, ButtonLink } from '../../design/button.tsx'
import { StateOf } from '../../design/deployment-state.tsx'
import { count, duration } from '../../design/format.ts'
import { Facts } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { share } from '../../design/rounded.ts'
import { Ago } from '../../design/time.tsx'
import { Actions, useCheck } from './actions.tsx'
import type { Deployment } from './deployment.ts'
import { Fallbacks } from './fallbacks.tsx'

/** One deployment: how it is, and where calls of its model went instead. */
export function HealthPanel({
  deployment,
  live,
  onClose,
}: {
  readonly deployment: Deployment
  readonly live: number
  readonly onClose: () => void
}) {
  const may = useMay()
  const { pages } = useSession()
  const check = useCheck()
  const { deployment_id: id, model_name: model, last_error: error, last_error_at: at } = deployment
  const leads = (page: string, text: string, params: Record<string, string>) =>
    pages.includes(page) && <ButtonLink href={pathTo(page, params)}>{text}</ButtonLink>
  return (
    <Panel
      title={id}
      onClose={onClose}
      actions={may('config.update') && <Actions deployment={deployment} />}
      footer={
        <>
          {may('config.update') && (
            <Button busy={check.busy} onClick={() => check.ask(id)}>
              Check now
            </Button>
          )}
          {leads('requests', 'Its calls', { deployment: id })}
          {leads('deployments', 'Its settings', { open: id })}
        </>
      }
    >
      <Facts
        of={[
          ['State', <StateOf deployment={deployment} />],
          ['Serves', model],
          ['Provider', deployment.provider],
          ['Active calls', count(deployment.active_requests)],
          ['Used of its limits', share(deployment.utilization, 1)],
          ['Average', duration(deployment.avg_latency_ms)],
          ['First token', duration(deployment.first_token_ms)],
          [
            'Last error',
            error === null ? (
              'none'
            ) : (
              <>
                {error.replaceAll('_', ' ')} {at && <Ago at={at} />}
              </>
            ),
          ],
          ['Last success', <Ago at={deployment.last_success_at} never="none yet" />],
        ]}
      />
      <Fallbacks model={model} live={live} level={3} />
    </Panel>
  )
}
