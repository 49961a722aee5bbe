import { GatewayError } from '../../lib/errors.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { priced } from '../../modes/price/cost.ts'
import type { Deployment, Group } from '../../routing/deployment.ts'
import { eligible } from '../../routing/eligible.ts'
import { type GroupSettings, groupSettings } from '../../routing/group-settings.ts'
import { firstInOrder, inOrder, orderedAgain, type Placed } from '../../routing/order.ts'
import { strategies } from '../../routing/strategies/index.ts'
import {
  availabilityOf,
  type Capacity,
  type Preference,
  type Candidate as StoreCandidate,
} from '../../stores/kv/deployment-signals.ts'
import type { Caller } from '../caller.ts'
import type { Endpoint } from '../endpoint.ts'
import { type Keepers, keepersOf } from '../ids/keepers.ts'
import type { KnownIds } from '../ids/known-ids.ts'
import type { PipelineServices } from '../services.ts'
import { translatorOf } from '../translate/translator.ts'
import { affordable } from './affordable.ts'
import { capableDeployments } from './capable-deployments.ts'
import { modelNotFound } from './model-not-found.ts'
import { withinModel } from './routing-fields.ts'

/** How many of a large group admission is asked about. More would make every call dearer, for a case that is rare: that all
 *  of these are full or cooled, although they were known to be well. */
export const ASKED = 16

/** Where a call may go: the group that its name means, and its deployments in the order of preference. */
export interface Plan {
  readonly group: Group
  readonly settings: GroupSettings
  /** By what the strategy orders, where every call changes that. */
  readonly preference: Preference | undefined
  /** More could take it than admission is asked about. */
  readonly large: boolean
  /** Whom it may go to, by what is known at this moment; of a large group the first. The same call gets the same random
   *  draw, and the same deployments, every time. */
  order(): Deployment[]
  /** The rest of a large group: for when none of the first takes the call. */
  others(): Deployment[]
}

/** What holds a call to some of the deployments that could take it. */
export interface Bounds {
  /** Whose things it may name. */
  readonly tenant: string
  /** What it names of what providers have made. */
  readonly ids: KnownIds | undefined
  /** A budget pays: everything that it costs has to be known. */
  readonly budgeted: boolean
  /** There are models that its caller may not call. */
  readonly restricted: boolean
  /** Models whose own budgets were found to have no room for it. undefined where none has a budget. */
  readonly leftOut: Set<string> | undefined
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
  bounds: Bounds,
): Planned {
  const group = services.registry.resolve(request.model)
  if (!group || !caller.mayCall(group)) return { error: modelNotFound(request.model) }
  try {
    return { plan: planGroup(services, endpoint, request, group, bounds) }
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
  bounds?: Bounds,
): Plan {
  const capable = capableDeployments(group, endpoint)
  const fitting = eligible(group, capable.deployments, request)
  const able = capable.checksRequests ? expressible(fitting, endpoint, request) : fitting
  const { restricted = false, budgeted = false } = bounds ?? {}
  const within = restricted || budgeted ? withinModel(able, request, restricted) : able
  const { deployments: keeping, first } = withNamedIds(services, within, endpoint, bounds)
  const { refuse_unpriced } = services.config.general_settings
  const withPrice = refuse_unpriced ? billable(keeping, endpoint, group) : keeping
  const deployments = budgeted || refuse_unpriced ? affordable(withPrice, endpoint, request) : withPrice
  const settings = groupSettings(services.config.router_settings, group)
  const ordered = (members: readonly Deployment[]) =>
    remainingOrder(orderOf(services, endpoint, settings, members), bounds?.leftOut)
  if (first.length === keeping.length) return { group, settings, ...ordered(deployments) }
  const best = ordered(deployments.filter((deployment) => first.includes(deployment)))
  const rest = ordered(deployments.filter((deployment) => !first.includes(deployment)))
  return {
    group,
    settings,
    // The store must not go by it past those who know the conversation.
    preference: undefined,
    large: best.large || rest.large,
    order: () => [...best.order(), ...rest.order()],
    others: () => [...best.others(), ...rest.others()],
  }
}

type Order = Omit<Plan, 'group' | 'settings'>

/** The order without those that are found to be out of reach meanwhile. */
function remainingOrder(order: Order, leftOut: Bounds['leftOut']): Order {
  if (!leftOut) return order
  return {
    ...order,
    order: () => remaining(order.order(), leftOut),
    others: () => remaining(order.others(), leftOut),
  }
}

/** Those of them that no model's budget keeps from the call. */
export function remaining(deployments: Deployment[], leftOut: Bounds['leftOut']): Deployment[] {
  if (!leftOut || leftOut.size === 0) return deployments
  return deployments.filter(({ modelName }) => !leftOut.has(modelName))
}

/** Deployments as the strategy of their group orders them. */
function orderOf(
  services: PipelineServices,
  { mode }: Endpoint,
  settings: GroupSettings,
  deployments: readonly Deployment[],
): Order {
  const strategy = strategies.get(settings.strategy)
  if (!strategy) throw new TypeError(`no strategy '${settings.strategy}'`)
  const { random, signals } = services
  const large = deployments.length > ASKED
  let first: readonly Placed[] | undefined
  const { prefers } = strategy
  return {
    preference: prefers && { by: prefers, unit: mode.unit },
    large,
    order() {
      if (deployments.length <= 1) return [...deployments]
      if (first) first = orderedAgain(first, strategy, { mode, signals })
      else {
        const takesCalls = takingCalls(services)
        first = firstInOrder(deployments, ASKED, strategy, { mode, signals, random, takesCalls })
      }
      return first.map(({ deployment }) => deployment)
    },
    others() {
      if (!large) return []
      const ahead = new Set(first?.map(({ deployment }) => deployment))
      const behind = deployments.filter((deployment) => !ahead.has(deployment))
      return inOrder(behind, strategy, { mode, signals, random }).map(({ deployment }) => deployment)
    },
  }
}

/** Those that have what a request names. */
function withNamedIds(
  { registry }: PipelineServices,
  deployments: readonly Deployment[],
  { mode, dialect }: Endpoint,
  bounds: Bounds | undefined,
): Keepers {
  if (!bounds?.ids) return { deployments, first: deployments }
  const isNative = (deployment: Deployment) => translatorOf(deployment, mode, dialect)?.translates !== true
  return keepersOf(deployments, bounds.ids, { tenant: bounds.tenant, registry, isNative })
}

/** All that a call could go to. */
export const allDeployments = ({ order, others }: Plan): Deployment[] => [...order(), ...others()]

/** Whether a deployment would take a call now, as far as is known. */
export function takingCalls(services: PipelineServices): (deployment: Deployment) => boolean {
  const now = services.clock.now()
  return (deployment) => {
    const { limits } = asCandidate(services, deployment)
    const availability = availabilityOf(services.signals.of(deployment.id), limits, now)
    return availability === 'free' || availability === 'half-open'
  }
}

/** Those that everything in the request can be said to. Where there is none, the client hears what cannot be said. */
function expressible(
  deployments: readonly Deployment[],
  { mode, dialect }: Endpoint,
  request: ModelRequest,
): readonly Deployment[] {
  let refusal: GatewayError | undefined
  const able = deployments.filter((deployment) => {
    const refused = translatorOf(deployment, mode, dialect)?.refuses?.(request)
    refusal ??= refused
    return !refused
  })
  if (able.length === 0 && refusal) throw refusal
  return able
}

/** Those whose calls have a known price. */
function billable(deployments: readonly Deployment[], { mode }: Endpoint, group: Group): readonly Deployment[] {
  const known = deployments.filter(({ info }) => priced(info, mode))
  if (known.length > 0) return known
  throw new GatewayError(
    'no_priced_deployment',
    `No deployment of '${group.name}' has a price for this kind of request, and calls of unknown price are refused.`,
    { param: 'model' },
  )
}

const NO_LIMITS: Capacity = {}

/** A deployment as the shared store is asked about it: its limits count only under pre-call checks, or where they measure
 *  what the strategy prefers. */
export function asCandidate(
  { config }: PipelineServices,
  { id, limits }: Deployment,
  preference?: Preference,
): StoreCandidate {
  const checked = config.router_settings.enable_pre_call_checks ? limits : NO_LIMITS
  return preference ? { deployment: id, limits: checked, capacity: limits } : { deployment: id, limits: checked }
}
