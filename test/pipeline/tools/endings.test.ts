import { describe, expect, it } from 'vitest'
import { newAbort } from '../../../src/lib/abort.ts'
import type { GatewayError } from '../../../src/lib/errors.ts'
import { managed, messagesOf, own, toolLoop } from '../../support/tool-loops.ts'

describe('the end of a chat with managed tools', () => {
  it.each([
    ['none of its own', [managed], 'none'],
    ['a function of its own', [managed, own], undefined],
  ])('asks once more without managed tools after eight turns, with %s', async (_, tools, choice) => {
    const run = toolLoop((_asked, turn) => (turn <= 8 ? { calls: [['docs__search', { q: turn }]] } : { text: 'Done.' }))
    const { body } = await run.ask({ tools })
    expect(run.model).toHaveLength(9)
    expect(run.called).toHaveLength(8)
    expect(body.choices[0]).toMatchObject({ message: { content: 'Done.' }, finish_reason: 'stop' })
    expect(body.choices[0].message.tool_executions).toHaveLength(8)
    const last = run.model[8]?.body
    expect(last?.tool_choice).toBe(choice)
    expect(last?.tools).toEqual(choice === 'none' ? run.model[0]?.body.tools : [own])
    expect(messagesOf(run.model[8])?.at(-1)).toMatchObject({ content: expect.stringContaining('No more tools') })
    expect(body.usage.prompt_tokens).toBe(900)
  })

  it('answers with what there is when the model calls on all the same', async () => {
    const run = toolLoop([{ calls: [['docs__search', { q: 1 }]], text: 'So far.' }])
    const { status, body } = await run.ask()
    expect(status).toBe(200)
    expect(run.called).toHaveLength(8)
    expect(body.choices[0]).toMatchObject({ message: { content: 'So far.' }, finish_reason: 'length' })
    expect(body.choices[0].message).not.toHaveProperty('tool_calls')
  })

  it('runs sixteen calls, and tells of every other that it was not run', async () => {
    const run = toolLoop((_asked, turn) =>
      turn <= 2 ? { calls: Array.from({ length: 10 }, () => ['docs__search', { q: 1 }] as const) } : { text: 'Done.' },
    )
    const { body } = await run.ask()
    expect(run.called).toHaveLength(16)
    expect(run.model).toHaveLength(3)
    const told = body.choices[0].message.tool_executions as { result: string }[]
    expect(told).toHaveLength(20)
    expect(told.slice(16).every(({ result }) => result.startsWith('This call was not run'))).toBe(true)
    expect(run.finished[0]?.tools).toHaveLength(16)
  })

  it('fails over in the middle, and stays in its group', async () => {
    const run = toolLoop((asked, turn) => {
      if (turn === 1) return { calls: [['docs__search', { q: 'a' }]] }
      return asked.origin.includes('first') ? { status: 500 } : { text: 'Done.' }
    })
    const { status, deployment } = await run.ask()
    expect([status, deployment]).toEqual([200, 'second'])
    expect(run.finished[0]?.tried).toMatchObject([
      { deployment: 'first', turn: 1, result: 'answered' },
      { deployment: 'first', turn: 2, result: 'failed' },
      { deployment: 'second', turn: 2, result: 'answered' },
    ])
    expect(run.finished[0]?.rescuedFrom).toEqual([])
  })

  it('hedges every turn that is late, and pays the winners', async () => {
    const run = toolLoop(
      ({ origin, body }) => ({
        ...(body.messages?.length === 1 ? { calls: [['docs__search', { q: 'a' }]] } : { text: 'Done.' }),
        ...(origin.includes('first') ? { ms: 60_000 } : {}),
      }),
      undefined,
      { router_settings: { routing_strategy: 'priority-based-routing', hedge_after_ms: 20, cooldown_time: 0 } },
    )
    expect(await run.ask()).toMatchObject({ status: 200, deployment: 'second' })
    expect(run.finished[0]?.tried.map(({ deployment, turn, result }) => [deployment, turn, result])).toEqual([
      ['first', 1, 'lost_hedge'],
      ['second', 1, 'answered'],
      ['first', 2, 'lost_hedge'],
      ['second', 2, 'answered'],
    ])
    expect(run.finished[0]).toMatchObject({ usage: { inputTokens: 200, outputTokens: 20 }, costNano: 400_000_000 })
    const active = (await run.services.store.signals(['first', 'second'])).map((one) => one.active)
    expect(active).toEqual([0, 0])
  })

  it('stays with the fallback that answered its first turn', async () => {
    const entry = (name: string) => ({
      model_name: name,
      deployment_id: `${name}-1`,
      gateway_params: { model: `openai-compatible/${name}`, api_base: `https://${name}.test/v1` },
    })
    const run = toolLoop(
      ({ origin }, turn) => {
        if (origin === 'https://m.test') return { status: 500 }
        return turn === 2 ? { calls: [['docs__search', { q: 'a' }]] } : { text: 'Done.' }
      },
      undefined,
      {
        model_list: [entry('m'), entry('n')],
        gateway_settings: {
          fallbacks: [{ m: ['n'] }],
          mcp_servers: [{ server_key: 'docs', base_url: 'http://docs.test/mcp' }],
        },
        router_settings: { cooldown_time: 0 },
      },
    )
    expect(await run.ask()).toMatchObject({ status: 200 })
    expect(run.model.map(({ origin }) => origin)).toEqual(['https://m.test', 'https://n.test', 'https://n.test'])
    expect(run.finished[0]).toMatchObject({ requestedModel: 'm', model: 'n', attempts: 3 })
  })

  it('ends with the failure of a turn that nobody answers, and is billed for the turns before', async () => {
    const run = toolLoop([{ calls: [['docs__search', { q: 'a' }]] }, { status: 500 }])
    const { status } = await run.ask()
    expect(status).toBe(502)
    expect(run.finished[0]).toMatchObject({
      ...{ ending: 'failed', status: 502, usage: { inputTokens: 100, outputTokens: 10 } },
      tried: [{ result: 'answered' }, { result: 'failed' }, { result: 'failed' }],
    })
  })

  it('ends its tools when the client leaves, and is billed for what was used', async () => {
    const signal = newAbort<GatewayError>()
    let told: unknown
    const run = toolLoop([{ calls: [['docs__hang', {}]] }], {
      hang: (_args, ending) =>
        new Promise((_, reject) =>
          ending.addEventListener('abort', () => {
            told = ending.reason
            reject(ending.reason)
          }),
        ),
    })
    const asking = run.ask({}, signal)
    await expect.poll(() => run.called.length).toBe(1)
    signal.abort()
    expect(await asking).toMatchObject({ status: 499 })
    expect(told).toMatchObject({ failure: 'client_closed' })
    expect(run.finished[0]).toMatchObject({
      ...{ ending: 'client_closed', usage: { inputTokens: 100, outputTokens: 10 }, costNano: 200_000_000 },
      tried: [{ result: 'answered' }],
    })
  })

  it('ends a later turn when the client leaves, and is billed for what that may have used too', async () => {
    const signal = newAbort<GatewayError>()
    const run = toolLoop([{ calls: [['docs__search', { q: 'a' }]] }, { text: 'Late.', ms: 60_000 }])
    const asking = run.ask({}, signal)
    await expect.poll(() => run.model.length).toBe(2)
    signal.abort()
    expect(await asking).toMatchObject({ status: 499 })
    expect(run.finished[0]).toMatchObject({
      ending: 'client_closed',
      tried: [
        { turn: 1, result: 'answered', usage: { inputTokens: 100 } },
        { turn: 2, result: 'client_closed', usage: { estimated: true } },
      ],
    })
    expect(run.finished[0]?.usage?.inputTokens).toBeGreaterThan(100)
  })

  it('is bounded by the time of the whole call', async () => {
    const run = toolLoop(
      [{ calls: [['docs__hang', {}]] }],
      { hang: () => new Promise(() => {}) },
      {
        router_settings: { total_timeout: 0.2 },
      },
    )
    expect(await run.ask()).toMatchObject({ status: 504 })
    expect(run.finished[0]).toMatchObject({ ending: 'failed', status: 504, usage: { inputTokens: 100 } })
  })
})
