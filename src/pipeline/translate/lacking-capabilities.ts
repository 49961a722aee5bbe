import type { Capability } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'

/** A lack is forgotten after this time, because an address may gain the route. */
const FORGOTTEN_AFTER_MS = 600_000

/** Capabilities that deployments were found to lack, and until when that is assumed. A reconfigured deployment is a new
 *  object and starts clean. */
const lacking = new WeakMap<Deployment, Map<Capability, number>>()

/** Whether a deployment was found to lack a route that its kind of provider usually has. */
export function lacks(deployment: Deployment, capability: Capability): boolean {
  const until = lacking.get(deployment)?.get(capability)
  return until !== undefined && until > performance.now()
}

export function learnLack(deployment: Deployment, capability: Capability): void {
  const known = lacking.get(deployment) ?? new Map<Capability, number>()
  known.set(capability, performance.now() + FORGOTTEN_AFTER_MS)
  lacking.set(deployment, known)
}
