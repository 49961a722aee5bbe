import type { Deployment, Group } from '../../routing/deployment.ts'
import type { Endpoint } from '../endpoint.ts'
import { translatorOf } from '../translate/translator.ts'

/** The deployments of a group that take an endpoint's kind of request. */
export interface CapableDeployments {
  readonly deployments: readonly Deployment[]
  /** Some of them accept or refuse by the content of the request. */
  readonly checksRequests: boolean
}

/** Cached by the registry's group object: the result is the same for every call and costs time in proportion to the
 *  group. */
const known = new WeakMap<Group, Map<Endpoint, CapableDeployments>>()

export function capableDeployments(group: Group, endpoint: Endpoint): CapableDeployments {
  let ofGroup = known.get(group)
  if (!ofGroup) {
    ofGroup = new Map()
    known.set(group, ofGroup)
  }
  let capable = ofGroup.get(endpoint)
  if (!capable) {
    capable = findCapable(group, endpoint)
    ofGroup.set(endpoint, capable)
  }
  return capable
}

function findCapable(group: Group, { mode, dialect }: Endpoint): CapableDeployments {
  const deployments: Deployment[] = []
  let checksRequests = false
  for (const deployment of group.deployments) {
    const translator = translatorOf(deployment, mode, dialect)
    if (!translator) continue
    deployments.push(deployment)
    // A deployment found to lack the dialect is asked in chat, which cannot express everything.
    checksRequests ||= translator.refuses !== undefined || (dialect?.native !== undefined && dialect.native !== 'chat')
  }
  return { deployments, checksRequests }
}
