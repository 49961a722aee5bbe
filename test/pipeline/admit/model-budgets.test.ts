import { beforeEach, describe, expect, it } from 'vitest'
import { budgetKey, holdKey } from '../../../src/stores/kv/keys.ts'
import { budgetedCalls, type Deed, placed } from '../../support/budgeted-calls.ts'

/** A hundred tokens cost a dime at the one, a dollar at the other. */
const CHEAP = { input_cost_per_token: 0, output_cost_per_token: 0.001 }
const DEAR = { input_cost_per_token: 0, output_cost_per_token: 0.01 }
const DOLLAR = 1_000_000_000
const HUNDRED: Deed = { output: 100, ms: 1 }
const ask100 = { max_tokens: 100 }

const group = (name: string, ...models: string[]) => ({
  name,
  enabled: true,
  members: models.map((model_name, priority) => ({ model_name, priority, enabled: true })),
})

let calls: ReturnType<typeof budgetedCalls>
beforeEach(() => {
  calls = budgetedCalls(
    {
      router_settings: {
        routing_strategy: 'priority-based-routing',
        cooldown_time: 0,
        model_group_alias: { 'good-one': 'dear', either: 'dear-first' },
      },
      gateway_settings: { fallbacks: [{ spare: ['dear-first'] }] },
      // The route group hides the model of its name, which the file knows.
      model_list: [
        placed('cheap', 'c', CHEAP),
        placed('dear', 'd', DEAR),
        placed('spare', 's', CHEAP),
        placed('dear-first', 'hidden', CHEAP),
      ],
    },
    { groups: [group('dear-first', 'dear', 'cheap'), group('dears', 'dear')] },
  )
})

type From = ReturnType<typeof calls.caller>

/** What became of some calls, one after the other. */
async function one(from: From, model: string, count = 1, deed: Deed = HUNDRED, body: object = ask100) {
  const seen = []
  for (let call = 0; call < count; call++) {
    const { status, deployment, param } = await calls.ask(from, { model, ...body }, deed)
    await calls.idle()
    seen.push(status === 200 ? deployment : param)
  }
  return seen
}

/** What an account pays by the events, and by the store, which must be the same. */
async function spentOn(from: From, model: string | undefined): Promise<number> {
  const account = from.accounts.find((each) => each.model === model)
  const subject = account?.subject ?? ''
  const paid = calls.finished.flatMap(({ charges, costNano = 0 }) =>
    charges.filter((charge) => charge.subject === subject).map((charge) => charge.costNano ?? costNano),
  )
  const nothing = { versions: [], quotas: [], tokens: 0, slots: [], candidates: [], leaseSeconds: 1 }
  const period = account?.periodAt(Date.now()) ?? ''
  const budget = { scope: 'test', subject, limitNano: Number.MAX_SAFE_INTEGER, holdNano: 0, period, seedNano: 0 }
  const told = await calls.services.store.admit({
    callId: crypto.randomUUID(),
    attemptId: 'a',
    ...nothing,
    budgets: [budget],
  })
  const sum = paid.reduce((total, nano) => total + nano, 0)
  expect(told.kind === 'admitted' ? told.spentNano : told).toEqual([sum])
  return sum / DOLLAR
}

describe("a model's budget", () => {
  it.each(['dear', 'good-one', 'dear-first', 'either', 'dears'])('counts when the call goes to %s', async (model) => {
    const from = calls.caller({ key: { max_budget: 1000, model_max_budget: { dear: 100, cheap: 100 } } })
    expect(await one(from, model, 2)).toEqual(['d', 'd'])
    expect(await spentOn(from, 'dear')).toBe(2)
    expect(await spentOn(from, undefined)).toBe(2)
  })

  it('by its alias, too', async () => {
    const from = calls.caller({ team: { model_max_budget: { 'good-one': 1 } } })
    expect(await one(from, 'dears', 2)).toEqual(['d', 'team_model_budget'])
  })

  it('leaves the other models of a route group where it is spent, and is not charged for them', async () => {
    const from = calls.caller({ key: { max_budget: 1000, model_max_budget: { dear: 2.5, cheap: 0.2 } } })
    const seen = await one(from, 'either', 6)
    expect(seen).toEqual(['d', 'd', 'c', 'c', 'key_model_budget', 'key_model_budget'])
    expect([await spentOn(from, 'dear'), await spentOn(from, 'cheap')]).toEqual([2, 0.2])
    expect(await spentOn(from, undefined)).toBeCloseTo(2.2, 9)
  })

  it('leaves the other models to a call whose caller is read again before its budget refuses it', async () => {
    const current = calls.caller({ key: { model_max_budget: { dear: 0 } } })
    const outdated = { ...current, versions: [{ record: 'key:k', version: 1 }], again: async () => current }
    await calls.services.store.publish({ records: [{ record: 'key:k', version: 2 }], removed: [] })
    expect(await one(outdated, 'either')).toEqual(['c'])
  })

  it('of nothing keeps every call from the model, however it is named', async () => {
    const from = calls.caller({ key: { model_max_budget: { dear: 0 } } })
    for (const model of ['dear', 'good-one', 'dears']) expect(await one(from, model)).toEqual(['key_model_budget'])
    expect(await one(from, 'dear-first')).toEqual(['c'])
    expect(calls.asked.filter(({ origin }) => origin.includes('//d.'))).toEqual([])
  })

  it('of a route group counts for all of its members, beside theirs', async () => {
    const from = calls.caller({ team: { model_max_budget: { 'dear-first': 2.05, dear: 1 } } })
    expect(await one(from, 'dear-first', 3)).toEqual(['d', 'c', 'team_model_budget'])
    expect([await spentOn(from, 'dear-first'), await spentOn(from, 'dear')]).toEqual([1.1, 1])
    expect(await one(from, 'cheap')).toEqual(['c'])
  })

  it('keeps a fallback and a retry from the model', async () => {
    const from = calls.caller({ key: { model_max_budget: { dear: 0.5 } } })
    expect(await one(from, 'spare', 1, { ...HUNDRED, status: 500 })).toEqual([undefined])
    expect(calls.asked.map(({ origin }) => origin)).toEqual(['https://s.test', 'https://c.test'])
  })

  it('is held for: of 200 calls at once to a route group as many go to the model as it pays for', async () => {
    const from = calls.caller({ key: { max_budget: 1000, model_max_budget: { dear: 5 } } })
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => calls.ask(from, { model: 'either', ...ask100 }, { ...HUNDRED, ms: 20 })),
    )
    await calls.idle()
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(answers.filter(({ deployment }) => deployment === 'd')).toHaveLength(5)
    expect(await spentOn(from, 'dear')).toBe(5)
  })

  it('is held for without a limit of the call, too: nobody joins one that may cost more than is left', async () => {
    const from = calls.caller({ key: { model_max_budget: { dear: 5 } } })
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => calls.ask(from, { model: 'either' }, { ...HUNDRED, ms: 20 })),
    )
    await calls.idle()
    expect(answers.filter(({ deployment }) => deployment === 'd').length).toBeLessThanOrEqual(5)
    expect(await spentOn(from, 'dear')).toBeLessThanOrEqual(5)
  })
})

describe('an account', () => {
  const limited = (from: From, since?: string): From => ({
    ...from,
    accounts: from.accounts.map((account) => ({ ...account, since: since ?? account.since, limitNano: DOLLAR / 10 })),
  })

  it('pays for a call that ran when it got its budget', async () => {
    const from = calls.caller({ key: {} })
    const running = one(from, 'cheap', 1, { ...HUNDRED, ms: 200 })
    await expect.poll(() => calls.asked.length).toBe(1)
    expect(await one(limited(from), 'cheap', 1, { output: 1 }, { max_tokens: 1 })).toEqual(['c'])
    await running
    expect(await one(limited(from), 'cheap', 1, { output: 1 }, { max_tokens: 1 })).toEqual(['key_budget'])
  })

  it('of a removed record pays for its calls, and not the one that is made under its id', async () => {
    const from = limited(calls.caller({ key: {} }))
    const running = one(from, 'cheap', 1, { ...HUNDRED, ms: 200 })
    await expect.poll(() => calls.asked.length).toBe(1)
    const { subject = '' } = from.accounts[0] ?? {}
    await calls.services.store.publish({ records: [], removed: [budgetKey(subject), holdKey(subject)] })
    const made = limited(from, '2026-02-01T00:00:00.000Z')
    const small = () => one(made, 'cheap', 1, { output: 1 }, { max_tokens: 1 })
    expect(await small()).toEqual(['c'])
    await running
    expect(await small()).toEqual(['c'])
  })
})
