import type { Quota, Refused } from '../stores/kv/shared-store.ts'
import type { Caller } from './caller.ts'

/** Until when no request of a caller passes, by `performance.now()`, as far as this process was told. Gone with the caller
 *  that it was told of. */
const exhaustedUntil = new WeakMap<Caller, number>()

/** To be told of a refusal: of a window that is used up nothing passes before it ends. */
export function noteExhausted(
  caller: Caller,
  { resetsAt, now, quotas: { used } }: Refused,
  quotas: readonly Quota[],
): void {
  if (resetsAt === undefined || !quotas.some(({ limit }, index) => (used[index] ?? 0) >= limit)) return
  exhaustedUntil.set(caller, performance.now() + resetsAt - now)
}

/** Whether the shared store would refuse whatever this caller asks now, unless something has changed meanwhile. */
export function isExhausted(caller: Caller): boolean {
  if (caller.quotas.some(({ limit }) => limit === 0) || caller.slots.some(({ limit }) => limit === 0)) return true
  return (exhaustedUntil.get(caller) ?? 0) > performance.now()
}
