import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { GatewayProcess } from '../../runtimes/node/gateway-process.ts'
import { deployment } from '../../support/configuration.ts'
import type { Heard } from '../../support/mcp-heard.ts'
import { type McpServer, startMcpServer } from '../../support/mcp-server.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { answer, change, slowHeaders } from '../../support/upstream/index.ts'
import { as, type Pair, pairExists, spread, startPair, statusOf } from './pair.ts'

const MODEL = 'tools-model'
const CENT = 10_000_000
/** A turn costs a cent. */
const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
const calls = answer({ toolCalls: [{ id: 'call_1', name: 'docs__echo', arguments: '{"message":"a"}' }], usage })
const hangs = answer({ toolCalls: [{ id: 'call_2', name: 'docs__hang', arguments: '{}' }], usage })
const done = answer({ text: 'Done.', usage })

describe.skipIf(!pairExists())('calls with managed tools over two processes', () => {
  let pair: Pair
  let upstream: Upstream
  let tools: McpServer

  beforeAll(async () => {
    upstream = await startUpstream()
    tools = await startMcpServer()
    pair = await startPair({
      router_settings: { cooldown_time: 0 },
      gateway_settings: { mcp_servers: [{ server_key: 'docs', base_url: `${tools.url}/mcp/pair` }] },
      model_list: [deployment(upstream.url, 'model', MODEL, { input_cost_per_token: 0, output_cost_per_token: 0.001 })],
    })
  })
  afterEach(() => pair.expectShared())
  afterAll(async () => {
    await pair?.close()
    await upstream?.close()
    await tools?.close()
  })

  const ask = (gateway: GatewayProcess, key: string) =>
    gateway.chat(
      {
        model: 'model',
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 10,
        tools: [{ type: 'mcp', server: 'docs' }],
      },
      { headers: as(key) },
    )

  async function heldBy(subject: string): Promise<number> {
    const [held] = (await pair.raw.command('HMGET', `gateway:budget:${subject}`, 'held')) as (string | null)[]
    return held === null || held === undefined ? 0 : Number(atob(held))
  }

  it('of which many run at once cost what their turns cost, never pass a budget, and leave nothing held', async () => {
    upstream.script(MODEL, [...Array.from({ length: 100 }, (_, at) => (at % 3 === 2 ? done : calls)), done])
    const { key, ids } = await pair.family({ key: { max_budget: 0.5 } })
    const answers = await spread(pair, 60, (gateway) => ask(gateway, key))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
    const served = upstream.calls(MODEL).length
    expect(served).toBeGreaterThan(20)
    expect(served).toBeLessThanOrEqual(50)
    // As soon as everything has been written: one row for each call that began, and the cost of every turn.
    await expect
      .poll(
        async () => {
          const { rows } = await pair.sql.query(
            'SELECT count(*)::int AS calls, sum(attempts)::int AS turns, sum(cost_nano)::text AS cost FROM gateway_spend WHERE key_id = $1',
            [ids.key],
          )
          return [rows[0].turns, Number(rows[0].cost)]
        },
        { timeout: 15_000 },
      )
      .toEqual([served, served * CENT])
    await expect.poll(() => heldBy(`key:${ids.key}`)).toBe(0)
  })

  it('keep the only place of their key until they end, and count once in its limits', async () => {
    const { key } = await pair.family({ key: { max_parallel_requests: 1, rpm_limit: 3 } })
    for (const gateway of [pair.gateways[0], pair.gateways[1], pair.gateways[0]]) {
      upstream.script(MODEL, [calls, calls, done])
      expect(await statusOf(ask(gateway, key))).toBe(200)
    }
    expect(await statusOf(ask(pair.gateways[1], key))).toBe(429)
  })

  /** Resolves when the server has been asked for so many calls of a tool that has not answered. */
  async function hanging(count: number): Promise<void> {
    const hung = async () => {
      const heard = (await (await fetch(`${tools.url}/_heard?name=pair`)).json()) as readonly Heard[]
      return heard.filter(({ method, params }) => method === 'tools/call' && params.name === 'hang').length
    }
    await expect.poll(hung, { timeout: 10_000 }).toBe(count)
  }
  const rowsOf = async (keyId: string) =>
    (
      await pair.sql.query('SELECT ending, attempts, cost_nano::text AS cost FROM gateway_spend WHERE key_id = $1', [
        keyId,
      ])
    ).rows

  it('in a process that is killed keep what they hold until their lease ends, and not longer', async () => {
    const { key, ids } = await pair.family({ key: { max_parallel_requests: 1, max_budget: 0.03 } })
    const mortal = await pair.another()
    upstream.script(MODEL, [calls, hangs, done])
    const asking = ask(mortal, key).catch(() => 'broken')
    await hanging(1)
    // One place, and the money of each turn.
    const sets = [`gateway:slots:key:${ids.key}`, `gateway:holds:key:${ids.key}`]
    const members = (set: string) => pair.raw.command('ZRANGE', set, 0, -1) as Promise<string[]>
    expect((await Promise.all(sets.map(members))).map(({ length }) => length)).toEqual([1, 2])
    mortal.kill('SIGKILL')
    expect(await asking).toBe('broken')
    upstream.script(MODEL, [done])
    expect(await statusOf(ask(pair.gateways[0], key))).toBe(429)

    // The time until the lease ends passes here by moving the end.
    for (const set of sets) {
      for (const member of await members(set)) await pair.raw.command('ZADD', set, Date.now() - 1, atob(member))
    }
    expect(await statusOf(ask(pair.gateways[1], key))).toBe(200)
    await expect.poll(() => heldBy(`key:${ids.key}`)).toBe(0)
    await expect.poll(() => rowsOf(ids.key)).toMatchObject([{ ending: 'answered', attempts: 1 }])
  })

  it('in a process that is told to stop end as they would have, with their row and nothing held', async () => {
    const { key, ids } = await pair.family({ key: { max_parallel_requests: 1, max_budget: 0.5 } })
    const stopping = await pair.another()
    upstream.script(MODEL, [calls, change(calls, slowHeaders({ ms: 1500 })), done])
    const served = upstream.calls(MODEL).length
    const asking = ask(stopping, key)
    await upstream.until(MODEL, (asked) => asked.length === served + 2)
    stopping.kill('SIGTERM')
    const response = await asking
    expect(response.status).toBe(200)
    const { choices } = (await response.json()) as { choices: { message: object }[] }
    expect(choices[0]?.message).toMatchObject({ content: 'Done.', tool_executions: [{ turn: 1 }, { turn: 2 }] })
    expect(await stopping.ended).toMatchObject({ code: 0 })
    expect(await rowsOf(ids.key)).toMatchObject([{ ending: 'answered', attempts: 3, cost: String(3 * CENT) }])
    expect(await heldBy(`key:${ids.key}`)).toBe(0)
    expect(await pair.raw.command('ZCARD', `gateway:slots:key:${ids.key}`)).toBe(0)
  })
})
