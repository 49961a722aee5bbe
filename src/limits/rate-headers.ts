import type { Quota, QuotaState } from '../stores/kv/shared-store.ts'

/** Above this share of any limit the client is warned. */
const WARNING_SHARE = 0.8

/** What a client is told about its limits, after a request was counted or refused. */
export function rateHeaders(states: readonly QuotaState[]): Record<string, string> {
  if (states.length === 0) return {}
  return {
    ...side('requests', states),
    ...side('tokens', states),
    'x-gateway-ratelimit-scope': states.map(({ scope }) => scope).join(','),
    ...(states.some(({ used, limit }) => used > limit * WARNING_SHARE) ? { 'x-ratelimit-warning': 'near_limit' } : {}),
  }
}

function side(unit: Quota['unit'], states: readonly QuotaState[]): Record<string, string> {
  let tightest: QuotaState | undefined
  for (const state of states) {
    if (state.unit === unit && (!tightest || share(state) < share(tightest))) tightest = state
  }
  if (!tightest) return {}
  return {
    [`x-ratelimit-limit-${unit}`]: String(tightest.limit),
    [`x-ratelimit-remaining-${unit}`]: String(left(tightest)),
    [`x-ratelimit-reset-${unit}`]: String(Math.ceil(tightest.resetsAt / 1000)),
  }
}

const left = ({ limit, used }: QuotaState) => Math.max(0, limit - used)
const share = (state: QuotaState) => (state.limit <= 0 ? 0 : left(state) / state.limit)
