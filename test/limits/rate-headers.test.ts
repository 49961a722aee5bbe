import { describe, expect, it } from 'vitest'
import { rateHeaders as headersOf } from '../../src/limits/rate-headers.ts'
import type { Quota } from '../../src/stores/kv/shared-store.ts'

const RESET = Date.UTC(2026, 1, 10, 12, 0, 0)
interface Counted {
  readonly quota: Quota
  readonly used: number
  readonly resetsAt: number
}

const state = (scope: string, used: number, limit: number, resetsAt = RESET): Counted => ({
  quota: { scope, subject: scope, unit: scope.includes('_tp') ? 'tokens' : 'requests', window: 'day', limit },
  used,
  resetsAt,
})

const rateHeaders = (states: readonly Counted[]) =>
  headersOf(
    states.map(({ quota }) => quota),
    { used: states.map(({ used }) => used), resetsAt: states.map(({ resetsAt }) => resetsAt) },
  )

describe('what a client is told about its limits', () => {
  it('is nothing where there are none', () => {
    expect(rateHeaders([])).toEqual({})
  })

  it('is the tightest of each side: the one with the least remaining share', () => {
    const states = [
      state('org_rpm', 50, 100),
      state('team_rpd', 6, 10, RESET + 1),
      state('key_rpm', 2, 4),
      state('key_tpm', 0, 1000),
    ]
    expect(rateHeaders(states)).toEqual({
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '4',
      'x-ratelimit-reset-requests': String(RESET / 1000 + 1),
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '1000',
      'x-ratelimit-reset-tokens': String(RESET / 1000),
      'x-gateway-ratelimit-scope': 'org_rpm,team_rpd,key_rpm,key_tpm',
    })
  })

  it('says nothing of a side without a limit', () => {
    expect(Object.keys(rateHeaders([state('key_tpm', 1, 10)])).filter((name) => name.includes('requests'))).toEqual([])
  })

  it.each([
    [8, 10, undefined],
    [81, 100, 'near_limit'],
    [10, 10, 'near_limit'],
  ])('warns above 80 %% of any limit: %i of %i', (used, limit, warning) => {
    expect(rateHeaders([state('org_rpd', 0, 5), state('key_rpm', used, limit)])['x-ratelimit-warning']).toBe(warning)
  })

  it('counts a limit of nothing as used up', () => {
    expect(rateHeaders([state('key_rpm', 0, 0)])).toMatchObject({
      'x-ratelimit-limit-requests': '0',
      'x-ratelimit-remaining-requests': '0',
    })
  })
})
