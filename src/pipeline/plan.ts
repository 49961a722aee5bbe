import { GatewayError } from '../lib/errors.ts'
import { seededRandom } from '../lib/random.ts'
import { priced } from '../modes/cost.ts'
import type { ModelRequest } from '../modes/mode.ts'
import type { Deployment, Group } from '../routing/deployment.ts'
import { eligible } from '../routing/eligible.ts'
import { type GroupSettings, groupSettings } from '../routing/group-settings.ts'
import { strategies } from '../routing/strategies/index.ts'
import type { Candidate as StoreCandidate } from '../stores/kv/deployment-signals.ts'
import type { Endpoint } from './call.ts'
import type { Caller } from './caller.ts'
import { type Kept, keeping } from './kept-answer.ts'
import { modelNotFound } from './model-not-found.ts'
import type { PipelineServices } from './pipeline.ts'
import { speakerOf } from './speak.ts'

/** Where a call may go: the group that its name means, and its deployments in the order of preference. */
export interface Plan {
  readonly group: Group
  readonly settings: GroupSettings
  /** By what is known of the deployments at this moment; the same call gets the same random draw every time. */
  order(): Deployment[]
}

export type Planned =
  | { readonly plan: Plan; readonly error?: never }
  | { readonly error: GatewayError; readonly group?: Group }

/** Resolves the requested name and filters its group. What the caller may not call is as absent. A mistake is returned:
 *  limits are counted before it is told. */
export function plan(
  services: PipelineServices,
  endpoint: Endpoint,
  request: ModelRequest,
  caller: Caller,
  kept?: Kept,
): Planned {
  const group = services.registry.resolve(request.model)
  if (!group || !caller.mayCall(group)) return { error: modelNotFound(request.model) }
  try {
    return { plan: planGroup(services, endpoint, request, group, kept) }
  } catch (error) {
    if (error instanceof GatewayError) return { error, group }
    throw error
  }
}

export function planGroup(
  services: PipelineServices,
  endpoint: Endpoint,
  request: ModelRequest,
  group: Group,
  kept?: Kept,
): Plan {
  const { mode, dialect } = endpoint
  const ofItsKind = eligible(group, request, (deployment) => speakerOf(deployment, mode, dialect) !== undefined)
  const able = expressible(ofItsKind, endpoint, request)
  const speaking = kept ? keeping(able, kept) : able
  const deployments = services.config.general_settings.refuse_unpriced ? billable(speaking, endpoint, group) : speaking
  const settings = groupSettings(services.config.router_settings, group)
  const strategy = strategies.get(settings.strategy)
  if (!strategy) throw new TypeError(`no strategy '${settings.strategy}'`)
  const seed = services.random() * 4_294_967_296
  return {
    group,
    settings,
    order() {
      const [only] = deployments
      if (only && deployments.length === 1) return [only]
      const candidates = deployments.map((deployment) => ({ deployment, signals: services.signals.of(deployment.id) }))
      return strategy.order(candidates, { random: seededRandom(seed), mode }).map(({ deployment }) => deployment)
    },
  }
}

/** Those that everything in the request can be said to. Where there is none, the client hears what cannot be said. */
function expressible(deployments: Deployment[], { mode, dialect }: Endpoint, request: ModelRequest): Deployment[] {
  let refusal: GatewayError | undefined
  const able = deployments.filter((deployment) => {
    const refused = speakerOf(deployment, mode, dialect)?.refuses?.(request)
    refusal ??= refused
    return !refused
  })
  if (able.length === 0 && refusal) throw refusal
  return able
}

/** Those whose calls have a known price. */
function billable(deployments: Deployment[], { mode }: Endpoint, group: Group): Deployment[] {
  const known = deployments.filter(({ info }) => priced(info, mode))
  if (known.length > 0) return known
  throw new GatewayError(
    'no_priced_deployment',
    `No deployment of '${group.name}' has a price for this kind of request, and calls of unknown price are refused.`,
    { param: 'model' },
  )
}

/** A deployment as the shared store is asked about it: its limits count only under pre-call checks. */
export function asCandidate(services: PipelineServices, deployment: Deployment): StoreCandidate {
  const checked = services.config.router_settings.enable_pre_call_checks
  return { deployment: deployment.id, limits: checked ? deployment.limits : {} }
}
