import { GatewayError } from '../../lib/errors.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Registry } from '../../routing/registry.ts'
import { sameAccount } from '../../routing/same-account.ts'
import type { KnownId, KnownIds } from './known-ids.ts'

/** The deployments that a request with ids may go to. */
export interface Keepers {
  readonly deployments: readonly Deployment[]
  /** Those that know the conversation best; all of them if none does. */
  readonly first: readonly Deployment[]
}

/** The deployments that hold every object that a request references. Throws the same 404 for objects of another tenant,
 *  unknown objects, and objects not created through the gateway unless the operator has opened them. */
export function keepersOf(
  deployments: readonly Deployment[],
  ids: KnownIds,
  options: {
    readonly tenant: string
    readonly registry: Registry
    /** The deployment is asked in the dialect in which the ids were given. */
    readonly isNative: (deployment: Deployment) => boolean
  },
): Keepers {
  const { tenant, isNative } = options
  const homes = homesIn(options.registry)
  let able = deployments
  let maker: string | undefined
  const narrow = (id: KnownId, keeps: (deployment: Deployment) => boolean) => {
    able = able.filter(keeps)
    if (able.length === 0) throw absent(id)
  }
  for (const one of ids) {
    const { standing, id } = one
    // Objects that the operator lists belong to every tenant.
    const owner = deployments.some((deployment) => isNamed(deployment, id)) ? undefined : one.owner
    const mine = owner?.tenant === tenant
    if (mine) maker = owner.deployment
    if (standing === 'hint') continue
    if (owner && mine) {
      const has = homes(owner.deployment)
      narrow(one, standing === 'reference' ? has : (deployment) => has(deployment) || !isNative(deployment))
    } else if (standing === 'reference') narrow(one, (deployment) => owner === undefined && isOpen(deployment, id))
    else if (owner) narrow(one, (deployment) => !isNative(deployment))
  }
  const first = maker === undefined ? [] : able.filter(homes(maker))
  return { deployments: able, first: first.length === 0 ? able : first }
}

/** Whether a deployment shares the objects created at another, by the current registry. */
function homesIn({ groups }: Registry) {
  return (maker: string): ((deployment: Deployment) => boolean) => {
    let home: Deployment | undefined
    for (const { deployments } of groups) home ??= deployments.find(({ id }) => id === maker)
    return (deployment) => deployment.id === maker || (home !== undefined && sameAccount(home, deployment))
  }
}

/** The operator allows references to it although it was not created through the gateway. */
function isOpen(deployment: Deployment, id: string): boolean {
  return deployment.info.allow_foreign_ids === true || isNamed(deployment, id)
}

function isNamed({ info: { allow_foreign_ids: open } }: Deployment, id: string): boolean {
  return Array.isArray(open) && open.includes(id)
}

/** The refusal of an id that names nothing of the tenant's. */
export function absent({ param, kind, owner }: KnownId): GatewayError {
  if (owner === null) {
    const message = `Whose ${spaced(kind)} '${param}' names is unknown while the shared store is down.`
    return new GatewayError('store_unavailable', message, { param, retryAfterSeconds: 1 })
  }
  const message = `No deployment of this model has a ${spaced(kind)} of yours with the id that '${param}' names.`
  return new GatewayError('not_found', message, { param, code: `${kind}_not_found` })
}

const spaced = (kind: string) => kind.replaceAll('_', ' ')
