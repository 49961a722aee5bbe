import { describe, expect, it } from 'vitest'
import { accountsOf } from '../../src/limits/accounts.ts'
import type { LimitedScope } from '../../src/limits/limited-scope.ts'

const scope: LimitedScope = {
  level: 'team',
  id: 'red',
  rpm_limit: null,
  tpm_limit: null,
  rph_limit: null,
  rpd_limit: null,
  tpd_limit: null,
  max_budget: null,
  soft_budget: null,
  budget_duration: null,
  budget_started_at: '2026-01-31T00:00:00.000Z',
}

describe('the accounts of a scope', () => {
  it('count without a budget, and tell no budget from one of nothing', () => {
    expect(accountsOf(scope)).toMatchObject([{ scope: 'team_budget', subject: 'team:red', limitNano: undefined }])
    expect(accountsOf({ ...scope, max_budget: 0 })).toMatchObject([{ limitNano: 0 }])
  })

  it('hold money in whole nano-dollars', () => {
    expect(accountsOf({ ...scope, max_budget: 0.1 + 0.2, soft_budget: 0.1 })).toMatchObject([
      { limitNano: 300_000_000, softNano: 100_000_000 },
    ])
  })

  it('are one for each model with a budget of its own, beside the scope’s', () => {
    const accounts = accountsOf({ ...scope, model_max_budget: { 'gpt-4o': 2, 'a|b': 1 }, budget_duration: '1mo' })
    expect(accounts.map(({ scope, subject, model }) => [scope, subject, model])).toEqual([
      ['team_budget', 'team:red@1mo', undefined],
      ['team_model_budget', 'team:red|gpt-4o@1mo', 'gpt-4o'],
      ['team_model_budget', 'team:red|a|b@1mo', 'a|b'],
    ])
  })

  it('name periods so that later ones sort after earlier ones', () => {
    const [account] = accountsOf({ ...scope, budget_duration: '1mo' })
    const names = ['2026-02-01', '2026-02-27T23:59:59Z', '2026-02-28', '2026-03-31', '2026-02-01'].map((time) =>
      account?.periodAt(Date.parse(time)),
    )
    expect(names).toEqual([
      '2026-01-31T00:00:00.000Z',
      '2026-01-31T00:00:00.000Z',
      '2026-02-28T00:00:00.000Z',
      '2026-03-31T00:00:00.000Z',
      '2026-01-31T00:00:00.000Z',
    ])
    expect(accountsOf(scope)[0]?.periodAt(Date.now())).toBe('')
  })
})
