import { useChange } from '../../data/change.ts'
import { performed } from '../../design/confirmed.ts'
import { duration } from '../../design/format.ts'
import { Menu } from '../../design/menu.tsx'
import { toast } from '../../design/toast.tsx'
import type { Deployment } from './deployment.ts'

const AFTER = { refreshes: ['/health'] }

/** Asks deployments whether they answer, now. */
export function useCheck() {
  const check = useChange('POST /ui/api/models/{deployment_id}/check', AFTER)
  const ask = (deployment_id: string) =>
    check.mutate(
      { params: { deployment_id } },
      {
        onSuccess: ({ check: { result, error, total_ms: ms } }) =>
          result === 'healthy'
            ? toast(`${deployment_id} answered after ${duration(ms)}.`)
            : toast(`${deployment_id}: ${error?.message ?? 'the check says nothing'}`, { bad: true }),
        onError: (error) => toast(error.message, { bad: true }),
      },
    )
  return { ask, busy: check.isPending }
}

/** The actions on a deployment: check it, end its cooldown, drain and resume it. */
export function Actions({ deployment }: { readonly deployment: Deployment }) {
  const { deployment_id, model_name, state, active_requests: active } = deployment
  const check = useCheck()
  const release = useChange('POST /ui/api/models/{deployment_id}/release', AFTER)
  const drain = useChange('POST /ui/api/models/{deployment_id}/drain', AFTER)
  const resume = useChange('POST /ui/api/models/{deployment_id}/resume', AFTER)
  const one = { params: { deployment_id } }
  const failed = (error: Error) => toast(error.message, { bad: true })
  const done = (text: string) => ({ onSuccess: () => toast(text), onError: failed })
  async function takeAway(): Promise<void> {
    const question = {
      title: `Drain ${deployment_id}?`,
      body: `It gets no new calls until it is resumed, in every process and after restarts too. ${active} calls that run now go on. Others that serve ${model_name} take over; where there are none, its fallbacks do.`,
      action: 'Drain',
      done: `${deployment_id} gets no new calls.`,
    }
    await performed(question, () => drain.mutateAsync(one))
  }
  return (
    <Menu
      label={`Actions on ${deployment_id}`}
      icon="more"
      class="button plain icon small"
      items={[
        { label: check.busy ? 'Checking…' : 'Check now', note: 'x', onSelect: () => check.ask(deployment_id) },
        ...(state === 'cooling'
          ? [
              {
                label: 'End the cooldown',
                onSelect: () => release.mutate(one, done(`${deployment_id} gets calls again.`)),
              },
            ]
          : []),
        state === 'drained'
          ? { label: 'Resume', onSelect: () => resume.mutate(one, done(`${deployment_id} gets calls again.`)) }
          : { label: 'Drain…', onSelect: () => void takeAway() },
      ]}
    />
  )
}
