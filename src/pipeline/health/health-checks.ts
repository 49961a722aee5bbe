import { GatewayError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Job } from '../../lib/job.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { DeploymentOutcome, DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import { TELLS_NOTHING } from '../../stores/kv/nothing.ts'
import type { PipelineServices } from '../services.ts'
import { cooldown } from '../settle/outcome.ts'
import { reportCooled } from '../settle/report-cooled.ts'
import { type ProbeResult, probe } from './probe.ts'

/** So many probes wait at once, unless the runtime allows fewer. */
const AT_ONCE = 5

/** Probes deployments without recent calls and settles the result as calls do: a dead one is cooled before a client
 *  meets it, a recovered one is back. A probe is not recorded as a call or as spend. */
export function healthChecks(services: PipelineServices, live: { refresh(): Promise<void> }): Job {
  const everySeconds = services.config.general_settings.health_check_interval
  return {
    name: 'health-checks',
    everySeconds,
    async run(signal) {
      // Without calls nothing else would refresh the registry.
      await live.refresh().catch(() => {})
      const deployments = services.registry.groups.flatMap((group) => group.deployments)
      const signals = await services.store.signals(deployments.map(({ id }) => id))
      const idleSince = services.clock.now() - 500 * everySeconds
      const waiting = deployments
        .map((deployment, index) => ({ deployment, known: signals[index] as DeploymentSignals }))
        .filter(({ known }) => known.active === 0 && !known.probing && lastHeardOf(known) <= idleSince)
      const worker = async () => {
        for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
          await checkOf(services, next.deployment, next.known, signal)
        }
      }
      await Promise.all(Array.from({ length: Math.min(services.callsAtOnce ?? AT_ONCE, AT_ONCE) }, worker))
    },
  }
}

const lastHeardOf = ({ lastErrorAt, lastSuccessAt }: DeploymentSignals) => Math.max(lastErrorAt, lastSuccessAt)

async function checkOf(
  services: PipelineServices,
  deployment: Deployment,
  { failures }: DeploymentSignals,
  signal: AbortSignal,
): Promise<void> {
  const result = await check(services, deployment, failures === 0, signal)
  if (result instanceof GatewayError) {
    services.log.warn('health_check.failed', { deployment: deployment.id, failure: result.failure })
  } else if (result === 'healthy' && failures > 0) {
    services.log.info('health_check.recovered', { deployment: deployment.id })
  }
}

/** Probes a deployment and settles the result. For one that `isSound` a free request suffices. */
export async function check(
  services: PipelineServices,
  deployment: Deployment,
  isSound: boolean,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const result = await probe(services, deployment, isSound, signal)
  if (result === 'inconclusive' || signal.aborted) return 'inconclusive'
  const failure = result === 'healthy' ? undefined : result
  const id = newId('check')
  const outcome: DeploymentOutcome = {
    attemptId: id,
    deployment: deployment.id,
    used: {},
    cooldown: cooldown(services, failure),
    ...(failure ? { result: 'failed', error: failure.row.classification ?? failure.failure } : { result: 'succeeded' }),
  }
  await settleAlone(services, outcome, deployment)
  return result
}

/** Ends the cooldown of a deployment in every process: its next call goes there as if it had not failed. */
export async function release(services: PipelineServices, deployment: Deployment): Promise<void> {
  const nothing = { used: {}, cooldown: cooldown(services, undefined) }
  const outcome = { attemptId: newId('release'), deployment: deployment.id, result: 'released', ...nothing } as const
  await settleAlone(services, outcome, deployment)
}

async function settleAlone(services: PipelineServices, outcome: DeploymentOutcome, of: Deployment): Promise<void> {
  const settlement = { ...TELLS_NOTHING, callId: outcome.attemptId, outcomes: [outcome] }
  reportCooled(services, settlement, [of], await services.store.settle(settlement))
}
