import { describe, expect, it } from 'vitest'
import { newAbort } from '../../../src/lib/abort.ts'
import type { GatewayError } from '../../../src/lib/errors.ts'
import { clientClosed } from '../../../src/pipeline/client.ts'
import type { Endpoint } from '../../../src/pipeline/endpoint.ts'
import { budgetedCalls, CHAT, type Deed, placed } from '../../support/budgeted-calls.ts'
import { seededRandom } from '../../support/random.ts'

/** A thousand tokens of output cost a dime. */
const PRICES = { input_cost_per_token: 0, output_cost_per_token: 0.0001 }
const DOLLAR = 1_000_000_000
const DIME: Deed = { output: 1000, ms: 5 }

const many = <T>(count: number, run: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => run(at)))

describe('a budget of $1.00 and 200 calls of $0.10 at once', () => {
  const histories: Record<string, readonly [body: object, deed: Deed, endpoint?: Endpoint][]> = {
    'behind nothing': [],
    'behind one call with max_tokens: 1': [[{ max_tokens: 1 }, { output: 1 }]],
    'behind one call that counts tokens': [[{}, { output: 0 }, { ...CHAT, free: true }]],
    'behind many short calls': Array.from({ length: 50 }, () => [{}, { output: 1 }]),
    'behind many short calls with a limit': Array.from({ length: 50 }, () => [{ max_tokens: 5 }, { output: 5 }]),
  }
  const bodies = [{}, { max_tokens: 8000 }, { max_completion_tokens: 1000 }, { max_tokens: null }, { stream: true }]

  describe.each(Object.keys(histories))('%s', (name) => {
    it.each(bodies)('spend no more than it holds: %o', async (body) => {
      const calls = budgetedCalls({ model_list: [placed('m', 'd', PRICES)] })
      const teacher = calls.caller({ key: { max_budget: 100 } })
      for (const [taught, deed, endpoint] of histories[name] ?? []) await calls.ask(teacher, taught, deed, endpoint)
      await calls.idle()
      const taughtNano = calls.spentNano()
      const caller = calls.caller({ key: { max_budget: 1 } })
      const answers = await many(200, () => calls.ask(caller, body, DIME))
      await calls.idle()
      const spent = calls.spentNano() - taughtNano
      expect(spent).toBeLessThanOrEqual(DOLLAR)
      expect(spent).toBeGreaterThan(0)
      const served = answers.filter(({ status }) => status === 200).length
      for (const { status, param } of answers) if (status !== 200) expect([status, param]).toEqual([429, 'key_budget'])
      expect(spent).toBe((served * DOLLAR) / 10)
    })
  })
})

it('a soft limit refuses nothing, however much is spent: more than the largest budget', async () => {
  const calls = budgetedCalls({ model_list: [placed('m', 'd', { ...PRICES, output_cost_per_token: 1 })] })
  const caller = calls.caller({ org: { soft_budget: 1 }, key: { soft_budget: 9_007_199 } })
  for (let turn = 0; turn < 3; turn++) {
    expect((await calls.ask(caller, {}, { output: 6_000_000, rude: true })).status).toBe(200)
  }
  await calls.idle()
  expect(calls.spentNano()).toBe(18_000_000 * DOLLAR)
})

describe('a budget of $1.00 and 200 calls of a batch at once', () => {
  it.each([
    ['half of the usual price', { batch_price_multiplier: 0.5 }, 20],
    ['a price of their own', { output_cost_per_token_batches: 0.00004 }, 25],
    ['a dearer price of their own', { output_cost_per_token_batches: 0.0002, batch_price_multiplier: 0.5 }, 5],
  ])('spend all of it and no more at %s', async (_, prices, served) => {
    const calls = budgetedCalls({ model_list: [placed('m', 'd', { ...PRICES, ...prices })] })
    const caller = calls.caller({ key: { max_budget: 1 } })
    const batch = { batchId: 'batch_1', repeats: () => false, finished() {} }
    const ask = (body: object, at: number) =>
      calls.ask(caller, body, DIME, CHAT, { batch: { ...batch, callId: `call_${at}` } })
    const answers = await many(200, (at) => ask({ max_tokens: 1000 }, at))
    await calls.idle()
    expect(calls.spentNano()).toBe(DOLLAR)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(served)
    expect(answers.filter(({ param }) => param === 'key_budget')).toHaveLength(200 - served)
  })
})

describe('twenty calls with a huge limit that are cancelled', () => {
  it.each([{ max_tokens: 1_000_000 }, { max_tokens: 1_000_000, stream: true }, {}])(
    'leave a budget usable at once: %o',
    async (body) => {
      const calls = budgetedCalls({ model_list: [placed('m', 'd', PRICES)] })
      const caller = calls.caller({ key: { max_budget: 1 } })
      const leaving = newAbort<GatewayError>()
      const asking = many(20, () => calls.ask(caller, body, { ...DIME, ms: 60_000 }, CHAT, { signal: leaving }))
      await new Promise((resolve) => setTimeout(resolve, 20))
      // One of them is alone, and holds all that it may cost.
      expect(calls.asked).toHaveLength('max_tokens' in body ? 1 : 2)
      expect(await calls.ask(caller, { max_tokens: 6000 }, DIME)).toMatchObject({ status: 429, param: 'key_budget' })
      leaving.abort(clientClosed())
      await asking
      await calls.idle()
      for (let call = 0; call < 9; call++) expect(await calls.ask(caller, body, DIME)).toMatchObject({ status: 200 })
    },
  )
})

describe('whatever calls come, of whatever history, 200 of them at once', () => {
  const LIVES = 40

  it.each([
    // What the client limits, and means, always fits.
    ['with limits up to 4,096 and free input', 4096, 'nothing'],
    // Of a call alone it is guessed how many tokens its text is,
    ['with limits up to 4,096', 4096, 'input'],
    // and how much it will be answered, where nobody knows.
    ['with any limit or none', 100_000, 'everything'],
  ] as const)(
    '%s spend no more than the budget and what a provider used beyond their limits',
    async (_name, most, guessed) => {
      let refused = 0
      let served = 0
      for (let seed = 1; seed <= LIVES; seed++) {
        const random = seededRandom(seed)
        const price = () => random.pick([0, 0.000_000_3, 0.000_01, 0.0001, 0.001])
        const infos = Array.from({ length: random.integer(1, 3) }, () => ({
          input_cost_per_token: guessed === 'nothing' ? 0 : price(),
          output_cost_per_token: price() + 0.000_001,
          ...(random.next() < 0.3 ? { max_output_tokens: random.integer(1, 10_000) } : {}),
          ...(random.next() < 0.2 ? { default_params: { max_tokens: random.integer(1, most) } } : {}),
        }))
        const calls = budgetedCalls({ model_list: infos.map((info, at) => placed('m', `d${at}`, info)) })
        const asked = new Map<string, { readonly body: Body; readonly deed: Deed }>()
        const body = (): Body => {
          const limited = most <= 4096 || random.next() < 0.5
          return {
            ...(limited ? { max_tokens: random.integer(0, random.pick([10, 1000, most])) } : {}),
            n: random.pick([1, 1, 3]),
          }
        }
        const deed = (): Deed => ({
          input: random.integer(0, 40),
          output: random.integer(0, random.pick([1, 100, 3000])),
          rude: random.next() < 0.05,
          ms: random.integer(0, 4),
        })
        const run = async (caller: Parameters<typeof calls.ask>[0], count: number) =>
          many(count, async (at) => {
            await new Promise((resolve) => setTimeout(resolve, at % 7))
            const one = { body: body(), deed: deed() }
            const { requestId, status } = await calls.ask(caller, one.body, one.deed)
            asked.set(requestId, one)
            if (status === 200) served += 1
            else refused += 1
          })
        await run(calls.caller({ key: { max_budget: 1000 } }), random.integer(0, 20))
        await calls.idle()
        calls.finished.splice(0)
        const limit = random.pick([0.01, 0.2, 1, 7])
        const caller = calls.caller({ [random.pick(['org', 'team', 'user', 'key'])]: { max_budget: limit } })
        for (let wave = 0; wave < 3; wave++) await run(caller, wave === 0 ? 200 : random.integer(1, 30))
        await calls.idle()
        const costs = calls.finished.map(({ requestId, deployment, usage, costNano = 0 }) => {
          const { body = {} } = asked.get(requestId) ?? {}
          const info = infos[Number(deployment.slice(1))]
          const each = body.max_tokens ?? info?.default_params?.max_tokens ?? info?.max_output_tokens ?? 4096
          const beyond = Math.max(0, (usage?.outputTokens ?? 0) - each * (body.n ?? 1))
          const beyondNano = beyond * (info?.output_cost_per_token ?? 0) * DOLLAR
          const inputNano = (usage?.inputTokens ?? 0) * (info?.input_cost_per_token ?? 0) * DOLLAR
          return { costNano, beyondNano, guesses: { nothing: 0, input: inputNano, everything: costNano } }
        })
        const spent = costs.reduce((sum, { costNano }) => sum + costNano, 0)
        const beyond = costs.reduce((sum, { beyondNano }) => sum + beyondNano, 0)
        const alone = Math.max(0, ...costs.map(({ guesses }) => guesses[guessed]))
        expect(spent, `seed ${seed}`).toBeLessThanOrEqual(Math.round(limit * DOLLAR + beyond + alone))
      }
      expect(refused).toBeGreaterThan(10 * LIVES)
      expect(served).toBeGreaterThan(10 * LIVES)
    },
    60_000,
  )
})

interface Body {
  readonly max_tokens?: number
  readonly n?: number
}
