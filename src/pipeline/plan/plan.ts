import type { ModelRequest } from '../../modes/mode.ts'
import type { Deployment, Group } from '../../routing/deployment.ts'
import { eligible } from '../../routing/eligible.ts'
import { type GroupSettings, groupSettings } from '../../routing/group-settings.ts'
import { firstInOrder, inOrder, orderedAgain, type Placed } from '../../routing/order.ts'
import { strategies } from '../../routing/strategies/index.ts'
import type { Preference } from '../../stores/kv/deployment-signals.ts'
import type { Endpoint } from '../endpoint.ts'
import { type Keepers, keepersOf } from '../ids/keepers.ts'
import type { KnownIds } from '../ids/known-ids.ts'
import type { PipelineServices } from '../services.ts'
import { affordable, billable } from './affordable.ts'
import { takingCalls } from './candidate.ts'
import { capableDeployments } from './capable-deployments.ts'
import { expressible, isNativeAt } from './expressible.ts'
import { withinModel } from './routing-fields.ts'

/** How many deployments of a large group admission considers. More would slow every call down for a rare case: that all
 *  of these are full or cooled although they were known to be healthy. */
export const ASKED = 16

/** Where a call may go: the resolved group and its deployments in order of preference. */
export interface Plan {
  readonly group: Group
  readonly settings: GroupSettings
  /** The signal by which the strategy orders, if each call changes it. */
  readonly preference: Preference | undefined
  /** No deployment of the group can answer: the gateway does itself, by an estimate. */
  readonly estimated?: true
  /** The group has more fitting deployments than admission considers. */
  readonly large: boolean
  /** The deployments in order, by current signals; of a large group only the first. Repeated calls use the same random
   *  draw and return the same deployments. */
  order(): Deployment[]
  /** The rest of a large group, for when none of the first takes the call. */
  others(): Deployment[]
}

/** Restrictions of a call to some of the deployments that could take it. */
export interface Bounds {
  /** The tenant whose objects the call may reference. */
  readonly tenant: string
  /** The provider-created objects that the call references. */
  readonly ids: KnownIds | undefined
  /** A budget pays for the call, so every part of its cost must be priced. */
  readonly budgeted: boolean
  /** The caller may not call every model. */
  readonly restricted: boolean
  /** The client refuses to have hints left out. */
  readonly strict: boolean
  /** Models whose budgets have no room for the call; undefined if none has a budget of its own. */
  readonly leftOut: Set<string> | undefined
}

/** Filters a group by what fits the request. Throws the refusal if nothing does. */
export function planGroup(
  services: PipelineServices,
  endpoint: Endpoint,
  request: ModelRequest,
  group: Group,
  bounds?: Bounds,
): Plan {
  const capable = capableDeployments(group, endpoint)
  const fitting = eligible(group, capable.deployments, request)
  const settings = groupSettings(services.config.router_settings, group)
  if (endpoint.dialect?.estimate && !fitting.some((deployment) => isNativeAt(deployment, endpoint))) {
    return { ...planOf(services, endpoint, group, settings, NONE), estimated: true }
  }
  const able = capable.checksRequests ? expressible(fitting, endpoint, request, bounds?.strict) : fitting
  const { restricted = false, budgeted = false } = bounds ?? {}
  const within = restricted || budgeted ? withinModel(able, request, restricted) : able
  const { deployments: keeping, first } = withNamedIds(services, within, endpoint, bounds)
  const { refuse_unpriced } = services.config.general_settings
  const withPrice = refuse_unpriced ? billable(keeping, endpoint, group) : keeping
  const deployments = budgeted || refuse_unpriced ? affordable(withPrice, endpoint, request) : withPrice
  const ordered = (members: readonly Deployment[]) =>
    withoutLeftOut(planOf(services, endpoint, group, settings, inService(members)), bounds?.leftOut)
  if (first.length === keeping.length) return ordered(deployments)
  const best = ordered(deployments.filter((deployment) => first.includes(deployment)))
  const rest = ordered(deployments.filter((deployment) => !first.includes(deployment)))
  return {
    group,
    settings,
    // The store must not reorder by preference: those that know the conversation come first.
    preference: undefined,
    large: best.large || rest.large,
    order: () => [...best.order(), ...rest.order()],
    others: () => [...best.others(), ...rest.others()],
  }
}

/** Without those that are drained. If all are, the plan is empty, and the call goes on to the group's fallbacks. */
function inService(deployments: readonly Deployment[]): readonly Deployment[] {
  return deployments.some(isDrained) ? deployments.filter((deployment) => !deployment.drained) : deployments
}

const isDrained = ({ drained }: Deployment) => drained === true

const NONE: readonly Deployment[] = []

/** The plan without models that were left out since it was made. */
function withoutLeftOut(plan: Plan, leftOut: Bounds['leftOut']): Plan {
  if (!leftOut) return plan
  return {
    ...plan,
    order: () => remaining(plan.order(), leftOut),
    others: () => remaining(plan.others(), leftOut),
  }
}

/** The deployments whose models have room in their budgets. */
export function remaining(deployments: Deployment[], leftOut: Bounds['leftOut']): Deployment[] {
  if (!leftOut || leftOut.size === 0) return deployments
  return deployments.filter(({ modelName }) => !leftOut.has(modelName))
}

/** The plan that has these deployments, in the order of the group's strategy. */
function planOf(
  services: PipelineServices,
  { mode }: Endpoint,
  group: Group,
  settings: GroupSettings,
  deployments: readonly Deployment[],
): Plan {
  const strategy = strategies.get(settings.strategy)
  if (!strategy) throw new TypeError(`no strategy '${settings.strategy}'`)
  const { random, signals, clock } = services
  const context = () => ({ mode, signals, random, now: clock.now() })
  const large = deployments.length > ASKED
  let first: readonly Placed[] | undefined
  const { prefers } = strategy
  return {
    group,
    settings,
    preference: prefers && { by: prefers, unit: mode.unit },
    large,
    order() {
      if (deployments.length <= 1) return [...deployments]
      if (first) first = orderedAgain(first, strategy, context())
      else {
        const takesCalls = takingCalls(services)
        first = firstInOrder(deployments, ASKED, strategy, { ...context(), takesCalls })
      }
      return first.map(({ deployment }) => deployment)
    },
    others() {
      if (!large) return []
      const ahead = new Set(first?.map(({ deployment }) => deployment))
      const behind = deployments.filter((deployment) => !ahead.has(deployment))
      return inOrder(behind, strategy, context()).map(({ deployment }) => deployment)
    },
  }
}

/** The deployments that hold the objects which a request references. */
function withNamedIds(
  { registry }: PipelineServices,
  deployments: readonly Deployment[],
  endpoint: Endpoint,
  bounds: Bounds | undefined,
): Keepers {
  if (!bounds?.ids) return { deployments, first: deployments }
  const isNative = (deployment: Deployment) => isNativeAt(deployment, endpoint)
  return keepersOf(deployments, bounds.ids, { tenant: bounds.tenant, registry, isNative })
}

/** Every deployment that a call could go to. */
export const allDeployments = ({ order, others }: Plan): Deployment[] => [...order(), ...others()]
