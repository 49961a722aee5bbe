import { describe, expect, it, vi } from 'vitest'
import type { Caller } from '../../../src/pipeline/caller.ts'
import { budgetedCalls, placed } from '../../support/budgeted-calls.ts'
import type { ScriptedReply } from '../../support/model-replies.ts'
import { scriptedModel, textResult, toolServersOf } from '../../support/tool-loops.ts'

const LEASE_MS = 1000

vi.mock('../../../src/pipeline/admit/decide.ts', async (original) => ({
  ...(await original<object>()),
  LEASE_SECONDS: 1,
}))

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const body = { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] }
const tools = [{ type: 'mcp', server: 'docs', require_approval: 'never' }]
const tokens = { input: 10, output: 1 }
const CALL: ScriptedReply = { calls: [['docs__search', { q: 'a' }]], ...tokens }

describe('a loop of tools that takes longer than a lease', () => {
  it.each<[string, number, Caller['slots']]>([
    ['place', 1000, [{ scope: 'key_parallel_requests', subject: 'key:leases', limit: 1 }]],
    // Two calls at once may cost 1.1 dollars.
    ['money', 1, []],
  ])('keeps its %s to its end, and nothing behind it', async (_, max_budget, slots) => {
    const { transport } = scriptedModel(({ body: sent }, turn) =>
      turn <= 2 && sent.tools ? CALL : { text: 'Done.', ...tokens },
    )
    const { toolServers, called } = toolServersOf({
      docs: {
        search: async () => {
          await wait(1.4 * LEASE_MS)
          return textResult('found')
        },
      },
    })
    const run = budgetedCalls(
      {
        gateway_settings: { mcp_servers: [{ server_key: 'docs', base_url: 'http://docs.test/mcp' }] },
        model_list: [placed('m', 'only', { input_cost_per_token: 0.001, output_cost_per_token: 0.01 })],
      },
      { transport, toolServers },
    )
    const from = { ...run.caller({ key: { max_budget } }), slots }
    const looping = run.ask(from, { ...body, tools })
    const during: number[] = []
    for (let at = 0; at < 5; at++) {
      await wait(0.48 * LEASE_MS)
      during.push((await run.ask(from, body)).status)
    }
    expect(called).toHaveLength(2)
    expect(during).toEqual(Array(5).fill(429))
    expect((await looping).status).toBe(200)
    await run.idle()
    expect((await run.ask(from, body)).status).toBe(200)
  })
})
