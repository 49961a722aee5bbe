import type { Capability } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'

/** An address may learn what it lacks: then it is asked for it again. */
const FORGOTTEN_AFTER_MS = 600_000

/** What the addresses behind deployments turned out not to have, and until when that is believed. A changed deployment is
 *  another one. */
const lacking = new WeakMap<Deployment, Map<Capability, number>>()

/** Whether a deployment was found to have no route for what its kind of provider usually has. */
export function lacks(deployment: Deployment, capability: Capability): boolean {
  const until = lacking.get(deployment)?.get(capability)
  return until !== undefined && until > performance.now()
}

export function learnLack(deployment: Deployment, capability: Capability): void {
  const known = lacking.get(deployment) ?? new Map<Capability, number>()
  known.set(capability, performance.now() + FORGOTTEN_AFTER_MS)
  lacking.set(deployment, known)
}
