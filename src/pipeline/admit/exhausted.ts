import type { Quota, Refused } from '../../stores/kv/shared-store.ts'
import type { Caller } from '../caller.ts'

/** The `performance.now()` until which a caller's requests would be refused, as far as this process knows. Entries are
 *  collected with their caller. */
const exhaustedUntil = new WeakMap<Caller, number>()

/** Records a refusal: a used-up window refuses every request until it ends. */
export function noteExhausted(
  caller: Caller,
  { resetsAt, now, quotas: { used } }: Refused,
  quotas: readonly Quota[],
): void {
  if (resetsAt === undefined || !quotas.some(({ limit }, index) => (used[index] ?? 0) >= limit)) return
  exhaustedUntil.set(caller, performance.now() + resetsAt - now)
}

/** Whether the shared store would probably refuse any request of this caller now. */
export function isExhausted(caller: Caller): boolean {
  if (caller.quotas.some(({ limit }) => limit === 0) || caller.slots.some(({ limit }) => limit === 0)) return true
  return (exhaustedUntil.get(caller) ?? 0) > performance.now()
}
