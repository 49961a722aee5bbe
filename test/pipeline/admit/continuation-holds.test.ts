import { describe, expect, it } from 'vitest'
import { budgetedCalls, type Deed, placed } from '../../support/budgeted-calls.ts'

const DOLLAR = 1_000_000_000
/** A token of output costs a cent, one of input a tenth of it. */
const PRICES = { input_cost_per_token: 0.001, output_cost_per_token: 0.01, supports_assistant_prefix: true }
/** Breaks off behind three words; whoever goes on writes fifty tokens. */
const CUT: Deed = { input: 100, output: 50, cutAfter: 3 }
const body = { stream: true, max_tokens: 50 }

const config = (more: object = {}) => ({
  router_settings: { routing_strategy: 'priority-based-routing', cooldown_time: 0 },
  model_list: [placed('m', 'first', { ...PRICES, priority: 0 }), placed('m', 'second', { ...PRICES, priority: 1 })],
  ...more,
})

describe('an answer that another goes on with', () => {
  it('holds what was said on top of what is to come, in the same group, too', async () => {
    const calls = budgetedCalls(config())
    const from = calls.caller({ key: { max_budget: 10 } })
    const { status, text } = await calls.ask(from, body, CUT)
    await calls.idle()
    expect([status, text.includes('[DONE]'), text.includes('"error"')]).toEqual([200, true, false])
    const [{ tried = [], costNano = 0 } = {}] = calls.finished
    expect(tried).toHaveLength(2)
    expect(costNano).toBe(tried.reduce((sum, one) => sum + (one.costNano ?? 0), 0))
  })

  it('ends where the budget has no room for that, and costs what was said', async () => {
    const calls = budgetedCalls(config())
    // What is to come fits, and not what was said beside it.
    const from = calls.caller({ key: { max_budget: 0.55 } })
    const { text } = await calls.ask(from, body, CUT)
    await calls.idle()
    expect(calls.asked.map(({ origin }) => origin)).toEqual(['https://first.test'])
    expect(text).toContain('"error"')
    expect(calls.spentNano()).toBeLessThan(0.1 * DOLLAR)
  })

  it('is gone on with for a call alone whose limit nobody means', async () => {
    const calls = budgetedCalls(config())
    const from = calls.caller({ key: { max_budget: 2 } })
    const { text } = await calls.ask(from, { stream: true, max_tokens: 100_000 }, CUT)
    await calls.idle()
    expect([calls.asked.length, text.includes('[DONE]')]).toEqual([2, true])
    expect(await calls.ask(from, { max_tokens: 1 }, { output: 1 })).toMatchObject({ status: 200 })
  })

  it('costs no more input than its model reads, where nobody told what was said', async () => {
    const info = { ...PRICES, max_input_tokens: 10 }
    const calls = budgetedCalls({ ...config(), model_list: [placed('m', 'first', info), placed('m', 'second', info)] })
    await calls.ask(calls.caller({ key: { max_budget: 10 } }), body, { ...CUT, input: 10 })
    await calls.idle()
    const [{ tried = [] } = {}] = calls.finished
    expect(tried[0]?.costNano).toBe(0.01 * DOLLAR + 0.04 * DOLLAR)
  })

  it.each([0.3, 1, 5])('of 200 at once spend no more than $%d', async (max_budget) => {
    const calls = budgetedCalls(config())
    const from = calls.caller({ org: { max_budget }, key: { max_budget: max_budget * 2 } })
    await Promise.all(Array.from({ length: 200 }, (_, at) => calls.ask(from, body, { ...CUT, ms: at % 5 })))
    await calls.idle()
    expect(calls.spentNano()).toBeLessThanOrEqual(max_budget * DOLLAR)
  })
})

describe('a call alone whose limit nobody means', () => {
  const fallback = {
    gateway_settings: { fallbacks: [{ m: ['dearer'] }] },
    model_list: [placed('m', 'first', PRICES), placed('dearer', 'other', { ...PRICES, output_cost_per_token: 0.02 })],
  }

  it('falls back to a dearer model, and still nobody joins it', async () => {
    const calls = budgetedCalls(config(fallback))
    const from = calls.caller({ key: { max_budget: 1 } })
    const failing = calls.asked
    const alone = calls.ask(from, { max_tokens: 100_000 }, { output: 10, status: 500, ms: 50 })
    await new Promise((resolve) => setTimeout(resolve, 75))
    expect(await calls.ask(from, { max_tokens: 1 }, { output: 1 })).toMatchObject({ status: 429 })
    expect(await alone).toMatchObject({ status: 502 })
    await calls.idle()
    expect(failing.map(({ origin }) => origin)).toEqual(['https://first.test', 'https://other.test'])
    expect(await calls.ask(from, { max_tokens: 1 }, { output: 1 })).toMatchObject({ status: 200 })
  })
})
