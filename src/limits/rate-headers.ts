import type { Quota, QuotaStates } from '../stores/kv/shared-store.ts'

/** Responses carry a warning once a limit is used beyond this share. */
const WARNING_SHARE = 0.8

/** The rate-limit headers of a response, after its request was counted or refused. */
export function rateHeaders(quotas: readonly Quota[], states: QuotaStates): Record<string, string> {
  const headers: Record<string, string> = {}
  if (quotas.length === 0) return headers
  addTightest(headers, REQUESTS, quotas, states)
  addTightest(headers, TOKENS, quotas, states)
  headers['x-gateway-ratelimit-scope'] = scopesOf(quotas)
  if (isNear(quotas, states.used)) headers['x-ratelimit-warning'] = 'near_limit'
  return headers
}

interface HeaderNames {
  readonly unit: Quota['unit']
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

const headerNames = (unit: Quota['unit']): HeaderNames => ({
  unit,
  limit: `x-ratelimit-limit-${unit}`,
  remaining: `x-ratelimit-remaining-${unit}`,
  reset: `x-ratelimit-reset-${unit}`,
})

const REQUESTS = headerNames('requests')
const TOKENS = headerNames('tokens')

function addTightest(
  headers: Record<string, string>,
  names: HeaderNames,
  quotas: readonly Quota[],
  { used, resetsAt }: QuotaStates,
): void {
  const index = tightest(quotas, names.unit, used)
  const quota = quotas[index]
  if (!quota) return
  headers[names.limit] = String(quota.limit)
  headers[names.remaining] = String(left(quota.limit, used[index]))
  headers[names.reset] = inSeconds(resetsAt[index])
}

/** The index of the quota of a unit with the least remaining share; -1 if there is none. */
function tightest(quotas: readonly Quota[], unit: Quota['unit'], used: readonly number[]): number {
  let found = -1
  let least = Number.POSITIVE_INFINITY
  for (let index = 0; index < quotas.length; index++) {
    const quota = quotas[index] as Quota
    if (quota.unit !== unit) continue
    const share = quota.limit <= 0 ? 0 : left(quota.limit, used[index]) / quota.limit
    if (share >= least) continue
    least = share
    found = index
  }
  return found
}

const left = (limit: number, used = 0) => Math.max(0, limit - used)
const inSeconds = (milliseconds = 0) => String(Math.ceil(milliseconds / 1000))

function isNear(quotas: readonly Quota[], used: readonly number[]): boolean {
  for (let index = 0; index < quotas.length; index++) {
    if ((used[index] as number) > (quotas[index] as Quota).limit * WARNING_SHARE) return true
  }
  return false
}

/** The scope header by list of quotas: a cached caller keeps its list. */
const scopes = new WeakMap<readonly Quota[], string>()

function scopesOf(quotas: readonly Quota[]): string {
  let names = scopes.get(quotas)
  if (names === undefined) {
    names = quotas.map(({ scope }) => scope).join(',')
    scopes.set(quotas, names)
  }
  return names
}
