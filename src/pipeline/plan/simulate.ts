import { GatewayError } from '../../lib/errors.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Deployment, Group } from '../../routing/deployment.ts'
import { groupSettings } from '../../routing/group-settings.ts'
import { strategies } from '../../routing/strategies/index.ts'
import { type Availability, availabilityOf, type DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import type { Endpoint } from '../endpoint.ts'
import type { PipelineServices } from '../services.ts'
import { asCandidate } from './candidate.ts'
import { planGroup } from './plan.ts'

/** Where calls would go now, each considered alone. */
export interface Simulation {
  /** The number of simulated calls; fewer than requested if the group is so large that they would take too long. */
  readonly calls: number
  /** Calls that no deployment would take: they wait, fall back or fail. */
  readonly unserved: number
  readonly deployments: readonly Simulated[]
}

interface Simulated {
  readonly deployment: Deployment
  /** How often it would be asked first. */
  readonly chosen: number
  readonly eligible: boolean
  readonly reason: string
}

/** The bound on the work of all draws together. */
const MOST_STEPS = 100_000_000
const BETWEEN_PAUSES = 100

/** Draws the first deployment of each call with its real plan, and reserves nothing. */
export async function simulate(
  services: PipelineServices,
  { endpoint, request, group, calls: wanted }: SimulatedCalls,
): Promise<Simulation> {
  const { deployments } = group
  services.signals.learn(await services.store.signals(deployments.map(({ id }) => id)))
  const now = services.clock.now()
  const refusals = new Map(deployments.map((one) => [one, refusalOf(services, { endpoint, request, group }, one)]))
  const available = new Map(
    deployments.map((one) => {
      const { limits } = asCandidate(services, one)
      return [one, availabilityOf(services.signals.of(one.id), limits, now)]
    }),
  )
  const chosen = new Map<Deployment, number>()
  const taking = new Map(available)
  const noneFits = deployments.every((one) => refusals.get(one) !== undefined)
  const calls = Math.min(wanted, Math.ceil(MOST_STEPS / deployments.length ** 2))
  for (let call = 0; call < calls && !noneFits; call++) {
    if (call % BETWEEN_PAUSES === BETWEEN_PAUSES - 1) await new Promise((resolve) => setTimeout(resolve))
    const { order, others } = planGroup(services, endpoint, request, group)
    const takes = (one: Deployment) => ['free', 'half-open'].includes(taking.get(one) ?? '')
    const first = order().find(takes) ?? others().find(takes)
    if (!first) continue
    chosen.set(first, (chosen.get(first) ?? 0) + 1)
    if (taking.get(first) === 'half-open') taking.set(first, 'probing')
  }
  return {
    calls,
    unserved: calls - [...chosen.values()].reduce((sum, count) => sum + count, 0),
    deployments: deployments.map((deployment) => {
      const signals = services.signals.of(deployment.id)
      const availability = available.get(deployment) ?? 'free'
      const refusal = refusals.get(deployment)
      return {
        deployment,
        chosen: chosen.get(deployment) ?? 0,
        eligible: refusal === undefined && (availability === 'free' || availability === 'half-open'),
        reason:
          refusal ?? describeAvailability(availability, signals, now) ?? because(services, endpoint, group, deployment),
      }
    }),
  }
}

export interface SimulatedCalls {
  readonly endpoint: Endpoint
  readonly request: ModelRequest
  readonly group: Group
  readonly calls: number
}

/** Why a plan leaves a deployment out. */
function refusalOf(
  services: PipelineServices,
  { endpoint, request, group }: Omit<SimulatedCalls, 'calls'>,
  deployment: Deployment,
): string | undefined {
  if (deployment.drained) return 'drained: it gets no new calls until it is resumed'
  try {
    planGroup(services, endpoint, request, { ...group, deployments: [deployment] })
    return undefined
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    if (error.code === 'unsupported_mode') return `takes no ${endpoint.mode.name} requests`
    return error.code === 'no_matching_deployment' ? 'lacks a requested tag' : error.message
  }
}

function describeAvailability(
  availability: Availability,
  { failures, lastError, cooledUntil }: DeploymentSignals,
  now: number,
): string | undefined {
  switch (availability) {
    case 'free':
      return undefined
    case 'full':
      return 'at a per-minute limit'
    case 'cooled':
      return `cooling for ${Math.ceil((cooledUntil - now) / 1000)} s after failures in a row: ${failures}, the last of them ${lastError}`
    case 'probing':
      return 'a call is trying whether it works again'
    case 'half-open':
      return 'its cooldown is over: one call tries whether it works again'
  }
}

function because(services: PipelineServices, { mode }: Endpoint, group: Group, deployment: Deployment): string {
  const { strategy } = groupSettings(services.config.router_settings, group)
  const context = { mode, signals: services.signals, now: services.clock.now() }
  return `${strategy}: ${strategies.get(strategy)?.because(deployment, context)}`
}
