import type { FailureName, GatewayError } from '../../lib/errors.ts'
import { StoreUnavailable } from '../../stores/kv/store-unavailable.ts'
import { SqlError } from '../../stores/sql/sql.ts'

/** What follows a failed try.
 *  - `ends`: the failure is the item's result.
 *  - `again`: it is tried again after the delay.
 *  - `waits`: the whole batch waits for what all of its items need, and the try does not count. */
export type AfterFailure =
  | { readonly kind: 'ends' }
  | { readonly kind: 'again'; readonly delayMs: number; readonly isThrottled: boolean; readonly pauseMs: number }
  | { readonly kind: 'waits'; readonly delayMs: number }

/** The tries of an item, beyond those that routing makes of each. */
const MOST_TRIES = 5
const FIRST_PAUSE_MS = 4000
const PAUSE_GROWTH = 3
const LONGEST_PAUSE_MS = 600_000

/** The longest wait of a batch: a limit may be raised, or a provider recover, earlier than it announced. */
const LONGEST_WAIT_MS = 60_000
const SHORTEST_WAIT_MS = 500

/** Failures that would be the same for every item of the batch, with the wait where the failure names none. */
const WAITS: Partial<Readonly<Record<FailureName, number>>> = {
  rate_limited: 1000,
  budget_exceeded: 10_000,
  overloaded: 2000,
  shutting_down: 1000,
  store_unavailable: 2000,
  database_unavailable: 2000,
  no_healthy_deployment: 5000,
  no_capacity: 5000,
}

/** `tries` ended before this one. */
export function afterFailure(error: GatewayError, tries: number, random: () => number): AfterFailure {
  const { retryAfterSeconds = error.row.retryAfterSeconds } = error.details
  const askedMs = retryAfterSeconds === undefined ? undefined : 1000 * retryAfterSeconds
  const waitMs = WAITS[error.failure] ?? (isStoreAway(error) ? 2000 : undefined)
  if (waitMs !== undefined) {
    const delayMs = askedMs ?? waitMs
    // A budget may be raised long before it is renewed.
    return { kind: 'waits', delayMs: within(error.failure === 'budget_exceeded' ? Math.min(delayMs, waitMs) : delayMs) }
  }
  if (!(error.row.retry || error.failure === 'call_timeout' || error.failure === 'internal')) return { kind: 'ends' }
  if (tries + 1 >= MOST_TRIES) return { kind: 'ends' }
  const backoffMs = FIRST_PAUSE_MS * PAUSE_GROWTH ** tries * (0.5 + random() / 2)
  const delayMs = Math.min(LONGEST_PAUSE_MS, Math.max(backoffMs, askedMs ?? 0))
  const isThrottled = error.failure === 'upstream_rate_limited'
  return { kind: 'again', delayMs, isThrottled, pauseMs: within(askedMs ?? SHORTEST_WAIT_MS) }
}

const within = (waitMs: number) => Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, waitMs))

function isStoreAway({ details: { cause } }: GatewayError): boolean {
  return cause instanceof StoreUnavailable || (cause instanceof SqlError && cause.isAway)
}
