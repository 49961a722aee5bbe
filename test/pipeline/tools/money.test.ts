import { describe, expect, it } from 'vitest'
import { newAbort } from '../../../src/lib/abort.ts'
import type { GatewayError } from '../../../src/lib/errors.ts'
import type { Caller } from '../../../src/pipeline/caller.ts'
import { budgetedCalls, placed } from '../../support/budgeted-calls.ts'
import type { ScriptedReply } from '../../support/model-replies.ts'
import { scriptedModel, textResult, toolServersOf } from '../../support/tool-loops.ts'

/** A token of output costs a cent, one of input a tenth of it. */
const PRICES = { input_cost_per_token: 0.001, output_cost_per_token: 0.01 }
const CALLS: ScriptedReply = { calls: [['docs__search', {}]], input: 300, output: 50 }
const DONE: ScriptedReply = { text: 'Done.', input: 400, output: 50 }

function loop(script: Parameters<typeof scriptedModel>[0], result = 'x'.repeat(100)) {
  const { transport, asked } = scriptedModel(script)
  let running = () => Promise.resolve(textResult(result))
  const { toolServers } = toolServersOf({ docs: { search: () => running() } })
  const calls = budgetedCalls(
    {
      router_settings: { cooldown_time: 0 },
      gateway_settings: { mcp_servers: [{ server_key: 'docs', base_url: 'http://docs.test/mcp' }] },
      model_list: [placed('m', 'only', PRICES)],
    },
    { transport, toolServers },
  )
  const ask = (from: Caller, signal = newAbort<GatewayError>(), more: object = {}) =>
    calls.ask(
      from,
      {
        max_tokens: 50,
        messages: [{ role: 'user', content: 'Hi' }],
        tools: [{ type: 'mcp', server: 'docs' }],
        ...more,
      },
      {},
      undefined,
      { signal },
    )
  return {
    ...calls,
    model: asked,
    ask,
    whileRunning(work: () => Promise<void>) {
      running = async () => {
        await work()
        return textResult(result)
      }
    },
  }
}

describe('the money of a call with managed tools', () => {
  it('is held for each turn before it is asked, on top of what the turns before have used', async () => {
    const run = loop([CALLS, DONE])
    const from = run.caller({ key: { max_budget: 100 } })
    const held: number[] = []
    const { admit } = run.services.store
    const store = run.services.store as { admit: typeof admit }
    store.admit = async (asked) => {
      const answer = await admit(asked)
      if (answer.kind === 'admitted') held.push(asked.budgets[0]?.holdNano ?? 0)
      return answer
    }
    expect(await run.ask(from)).toMatchObject({ status: 200 })
    await run.idle()
    // The client calls the model by a shorter name.
    const bytes = run.model.map(({ body }) => JSON.stringify({ ...body, model: 'm' }).length)
    const total = held.reduce((sum, one) => sum + one, 0)
    // The second turn: every byte of its request as a token, a thousand for its tools, and the longest answer; and what
    // the first has cost.
    const second = ((bytes[1] ?? 0) + 1000) * 1_000_000 + 50 * 10_000_000
    const used = 300 * 1_000_000 + 50 * 10_000_000
    expect(total).toBeGreaterThanOrEqual(second + used)
    expect(total).toBeLessThan(second + used + 100 * 1_000_000)
    expect(run.finished[0]).toMatchObject({ costNano: 300e6 + 500e6 + 400e6 + 500e6 })
  })

  it('ends the loop where a budget has no room for the next turn, and is paid for the turns before', async () => {
    // The result makes the second turn dearer than what is left.
    const run = loop([CALLS, DONE], 'x'.repeat(5000))
    const from = run.caller({ key: { max_budget: 4 } })
    expect(await run.ask(from)).toMatchObject({ status: 429, param: 'key_budget' })
    await run.idle()
    expect(run.model).toHaveLength(1)
    expect(run.finished[0]).toMatchObject({
      ...{ ending: 'failed', status: 429, errorType: 'budget_exceeded', costNano: 800_000_000 },
      tried: [{ result: 'answered', turn: 1 }],
    })
  })

  it.each([2, 5, 20])('never spends more than $%d, however many at once', async (max_budget) => {
    const run = loop((_asked, turn) => (turn % 3 === 0 ? DONE : CALLS))
    const from = run.caller({ org: { max_budget }, key: { max_budget: max_budget * 2 } })
    await Promise.all(Array.from({ length: 50 }, () => run.ask(from)))
    await run.idle()
    expect(run.spentNano()).toBeLessThanOrEqual(max_budget * 1e9)
  })

  it('counts a call once in the limits of its caller', async () => {
    const run = loop([CALLS, DONE, CALLS, DONE, CALLS])
    const from: Caller = {
      ...run.caller({}),
      quotas: [{ scope: 'key_rpm', subject: 'key:k', unit: 'requests', window: 'minute', limit: 2 }],
    }
    expect([await run.ask(from), await run.ask(from), await run.ask(from)].map(({ status }) => status)).toEqual([
      200, 200, 429,
    ])
  })

  describe('is released, as is the place of the call, when it ends', () => {
    const patient = () => newAbort<GatewayError>()
    const endings: readonly [string, Parameters<typeof scriptedModel>[0], number][] = [
      ['with an answer', [CALLS, DONE], 200],
      [
        'with calls of the client',
        [
          {
            calls: [
              ['docs__search', {}],
              ['mine', {}],
            ],
          },
        ],
        200,
      ],
      ['at the limit of turns', [{ ...CALLS, input: 10, output: 1 }], 200],
      ['with the failure of a first turn', [{ status: 500 }], 502],
      ['with the failure of a later turn', [CALLS, { status: 400 }], 400],
      ['with an answer that is none', [CALLS, { status: 200, error: { odd: true } }], 502],
    ]
    it.each(endings)('%s', async (_, script, status) => {
      const run = loop(script)
      const from: Caller = {
        ...run.caller({ key: { max_budget: 50 } }),
        slots: [{ scope: 'key_parallel_requests', subject: 'key:k', limit: 1 }],
      }
      expect(await run.ask(from, patient(), { max_tokens: 20 })).toMatchObject({ status })
      await run.idle()
      await expectFree(run, from)
    })

    it('because its client left', async () => {
      const run = loop([CALLS])
      const signal = patient()
      run.whileRunning(async () => {
        signal.abort()
        await new Promise(() => {})
      })
      const from: Caller = {
        ...run.caller({ key: { max_budget: 50 } }),
        slots: [{ scope: 'key_parallel_requests', subject: 'key:k', limit: 1 }],
      }
      expect(await run.ask(from, signal)).toMatchObject({ status: 499 })
      await expectFree(run, from)
    })

    /** Everything but what was spent can be had again, and so can the only place. */
    async function expectFree(run: ReturnType<typeof loop>, from: Caller): Promise<void> {
      const [{ subject = '', periodAt = () => '', limitNano = 0 } = {}] = from.accounts
      const spent = run.spentNano()
      const asked = (callId: string, holdNano: number) => ({
        ...{ callId, attemptId: callId, versions: [], quotas: [], tokens: 0, slots: from.slots, leaseSeconds: 60 },
        ...{ candidates: [{ deployment: 'only', limits: {} }] },
        budgets: [
          {
            ...{ scope: 'key_budget', subject, limitNano, softNano: undefined, holdNano, likelyNano: holdNano },
            ...{ period: periodAt(Date.now()), seedNano: undefined },
          },
        ],
      })
      const left = await run.services.store.admit(asked('all', limitNano - spent))
      expect(left).toMatchObject({ kind: 'admitted', spentNano: [spent] })
      const [signals] = await run.services.store.signals(['only'])
      // The one that has just been admitted.
      expect(signals).toMatchObject({ active: 1 })
    }
  })
})
