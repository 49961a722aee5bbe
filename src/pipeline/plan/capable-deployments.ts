import type { Deployment, Group } from '../../routing/deployment.ts'
import type { Endpoint } from '../endpoint.ts'
import { speakerOf } from '../translate/translator.ts'

/** The deployments of a group that take an endpoint's kind of request. */
export interface Takers {
  readonly deployments: readonly Deployment[]
  /** Some of them look at what a request says before they take it. */
  readonly choosy: boolean
}

/** By the group as the registry made it: it is the same for every call, and looking for it costs as much as a group is
 *  large. */
const known = new WeakMap<Group, Map<Endpoint, Takers>>()

export function takersOf(group: Group, endpoint: Endpoint): Takers {
  let ofGroup = known.get(group)
  if (!ofGroup) {
    ofGroup = new Map()
    known.set(group, ofGroup)
  }
  let takers = ofGroup.get(endpoint)
  if (!takers) {
    takers = findTakers(group, endpoint)
    ofGroup.set(endpoint, takers)
  }
  return takers
}

function findTakers(group: Group, { mode, dialect }: Endpoint): Takers {
  const deployments: Deployment[] = []
  let choosy = false
  for (const deployment of group.deployments) {
    const speaker = speakerOf(deployment, mode, dialect)
    if (!speaker) continue
    deployments.push(deployment)
    // What turns out to lack the dialect is asked in chat, which not everything can be said in.
    choosy ||= speaker.refuses !== undefined || (dialect?.native !== undefined && dialect.native !== 'chat')
  }
  return { deployments, choosy }
}
