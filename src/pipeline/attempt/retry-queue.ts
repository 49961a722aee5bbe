import type { GatewayError } from '../../lib/errors.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Call } from '../call.ts'
import { backoffMs, sleep } from './backoff.ts'

/** A deployment that failed and may be retried. */
export interface Retry {
  readonly deployment: Deployment
  /** The `performance.now()` until which it asked not to be called; 0 if it did not. */
  readonly notBefore: number
  /** It timed out. */
  readonly silent: boolean
}

/** Orders retries by the earliest allowed time; among equals the last failure first, because the others have waited
 *  longer already. Deployments that timed out come last. */
export function queued(retries: readonly Retry[], deployment: Deployment, failure: GatewayError): Retry[] {
  const { retryAfterSeconds } = failure.details
  const notBefore = retryAfterSeconds === undefined ? 0 : performance.now() + 1000 * retryAfterSeconds
  const silent = failure.failure === 'upstream_timeout'
  const entry = { deployment, notBefore, silent }
  return (silent ? [...retries, entry] : [entry, ...retries]).sort(bySoonest)
}

export const bySoonest = (a: Retry, b: Retry): number =>
  Number(a.silent) - Number(b.silent) || a.notBefore - b.notBefore

/** A wait before the next attempt. */
export interface Pause {
  readonly failure: GatewayError
  readonly notBefore: number
  readonly base: number
  readonly failures: number
  readonly random: () => number
}

/** Waits before the next attempt. Throws the failure at once if the wait does not fit into the call's deadline. */
export async function pause(call: Call, { failure, notBefore, base, failures, random }: Pause): Promise<void> {
  const now = performance.now()
  const wait = Math.max(notBefore - now, backoffMs(base, failures, random))
  if (now + wait >= call.deadline) throw failure
  await sleep(wait, call.client.signal)
}
