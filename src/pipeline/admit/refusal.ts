import { GatewayError } from '../../lib/errors.ts'
import { rateHeaders } from '../../limits/rate-headers.ts'
import type { Admission, Budget, Refused } from '../../stores/kv/shared-store.ts'
import type { Caller } from '../caller.ts'
import { isExceededBy } from './hold.ts'

/** The refusal of a request of so many tokens, as the client gets it. `room`: after how many seconds a budget that refused
 *  has room for the call. */
export function refusal(
  { scope, subject, reason, resetsAt, now, quotas: states }: Refused,
  { quotas, tokens, budgets }: Pick<Admission, 'quotas' | 'tokens' | 'budgets'>,
  room?: number,
): GatewayError {
  const headers = rateHeaders(quotas, states)
  if (reason === 'budget') {
    const isTooDear = budgets.some((one) => one.subject === subject && one.limitNano > 0 && isExceededBy(one, 0))
    return new GatewayError(isTooDear ? 'exceeds_budget' : 'budget_exceeded', `Budget exceeded for scope '${scope}'`, {
      param: scope,
      headers,
      ...(room === undefined ? {} : { retryAfterSeconds: room }),
    })
  }
  const full = quotas.find((one) => one.scope === scope)
  const isTooLarge = full?.unit === 'tokens' && full.limit > 0 && tokens > full.limit
  return new GatewayError(isTooLarge ? 'exceeds_limit' : 'rate_limited', `Rate limit exceeded for scope '${scope}'`, {
    param: scope,
    code: `${scope}_exceeded`,
    retryAfterSeconds: resetsAt === undefined ? SOON : secondsUntil(resetsAt, now),
    headers,
  })
}

/** After how many seconds a budget that refused has room for the call; undefined if waiting does not help. */
export function roomIn(
  { subject, spentNano = 0, now }: Refused,
  budgets: readonly Budget[],
  { accounts }: Caller,
): number | undefined {
  const budget = budgets.find((one) => one.subject === subject)
  if (!budget || isExceededBy(budget, 0)) return undefined
  if (!isExceededBy(budget, spentNano)) return SOON
  const resetsAt = accounts.find((one) => one.subject === subject)?.resetsAt(now)
  return resetsAt === undefined ? undefined : secondsUntil(resetsAt, now)
}

/** What other calls hold may be free at any time. */
const SOON = 1

const secondsUntil = (at: number, now: number) => Math.max(SOON, Math.ceil((at - now) / 1000))
