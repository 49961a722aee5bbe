import type { ModelRequest } from '../../modes/mode.ts'
import type { Deployment, Group } from '../../routing/deployment.ts'
import { fits } from '../../routing/eligible.ts'
import type { CapacityUnit } from '../../stores/kv/deployment-signals.ts'
import { isUnwell } from '../attempt/early-probe.ts'
import type { Attempt, Call } from '../call.ts'
import type { Endpoint } from '../endpoint.ts'
import type { PipelineServices } from '../services.ts'
import { refusalBy, translatorOf } from '../translate/translator.ts'
import { asCandidate } from './candidate.ts'
import { learnSignals } from './learn-signals.ts'
import type { Plan } from './plan.ts'

/** A header size that every proxy accepts. */
const MOST_CHARACTERS = 4096

/** Why each deployment of the tried groups was chosen or left out, for `x-gateway-explain`: items of an id and its
 *  reason, attempts first and in order, `id;taken, id;cooling;until=…`. Items that do not fit are counted. */
export async function explained(services: PipelineServices, call: Call): Promise<Record<string, string>> {
  if (!call.explain) return {}
  // With managed tools a group is planned for each turn anew.
  const plans = [...new Map(call.plans.map((plan) => [plan.group, plan])).values()]
  const deployments = plans.flatMap(({ group }) => group.deployments)
  await learnSignals(services, call, deployments)
  const tried = new Set(call.attempts.map(({ deployment }) => deployment.id))
  const attempts = call.attempts.map((attempt) =>
    item(attempt.deployment, verdictOn(attempt), call.group, attempt.plan.group),
  )
  const last = call.attempts.at(-1)
  const served = last && !last.failure ? last.plan.group : undefined
  const others = plans.flatMap(({ group, order }) =>
    inOrder(group, order)
      .filter(({ id }) => !tried.has(id))
      .map((deployment) => {
        const inexpressible = call.inexpressible?.has(deployment.id) ? 'request' : undefined
        const reason =
          inexpressible ?? reasonFor(services, call, deployment) ?? (served === group ? 'unneeded' : 'unreached')
        return item(deployment, reason, call.group, group)
      }),
  )
  return header([...attempts, ...others])
}

/** The same for a group without a deployment that fits the request. */
export function explainedUnfit(
  services: PipelineServices,
  call: { readonly endpoint: Endpoint; readonly request: ModelRequest },
  group: Group,
): Record<string, string> {
  return header(
    group.deployments.map((deployment) =>
      item(deployment, reasonFor(services, call, deployment) ?? 'unreached', group),
    ),
  )
}

function inOrder({ deployments }: Group, order: Plan['order']): Deployment[] {
  const ordered = order()
  return [...ordered, ...deployments.filter((deployment) => !ordered.includes(deployment))]
}

function verdictOn({ lostHedge, failure }: Attempt): string {
  if (lostHedge) return 'lost_hedge'
  return failure ? `failed=${failure.row.classification ?? failure.failure}` : 'taken'
}

/** Why a deployment cannot take this request; undefined if it can. */
function reasonFor(
  services: PipelineServices,
  { endpoint, request }: { readonly endpoint: Endpoint; readonly request: ModelRequest },
  deployment: Deployment,
): string | undefined {
  if (!translatorOf(deployment, endpoint.mode, endpoint.dialect)) return 'kind'
  if (deployment.drained) return 'drained'
  if (!fits(deployment, request)) return 'tags'
  if (refusalBy(deployment, endpoint, request)) return 'request'
  const signals = services.signals.of(deployment.id)
  const full = Object.entries(asCandidate(services, deployment).limits).find(
    ([unit, limit]) => (signals.used[unit as CapacityUnit] ?? 0) >= limit,
  )
  if (full) return `full=${full[0]}`
  if (!isUnwell(signals)) return undefined
  if (signals.cooledUntil <= services.clock.now()) return 'probing'
  return `cooling;until=${new Date(signals.cooledUntil).toISOString().slice(0, 19)}Z`
}

function item({ id }: Deployment, reason: string, asked: Group, group: Group = asked): string {
  const elsewhere = group.name === asked.name ? '' : `;group=${encodeURIComponent(group.name)}`
  return `${encodeURIComponent(id)};${reason}${elsewhere}`
}

function header(items: readonly string[]): Record<string, string> {
  let value = ''
  for (const [index, next] of items.entries()) {
    if (value.length + next.length > MOST_CHARACTERS) {
      return { 'x-gateway-explain': `${value}${value === '' ? '' : ', '}*;more=${items.length - index}` }
    }
    value += value === '' ? next : `, ${next}`
  }
  return { 'x-gateway-explain': value }
}
