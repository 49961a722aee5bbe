import { describe, expect, it } from 'vitest'
import { newAbort } from '../../../src/lib/abort.ts'
import type { GatewayError } from '../../../src/lib/errors.ts'
import { ToolFailure } from '../../../src/mcp/tool-servers.ts'
import { budgetedCalls, placed } from '../../support/budgeted-calls.ts'
import {
  type AskedModel,
  type Running,
  type Said,
  scriptedModel,
  textResult,
  toolServersOf,
} from '../../support/tool-loops.ts'

const MCP_SERVERS = ['docs', 'files'].map((server_key) => ({ server_key, base_url: `http://${server_key}.test/mcp` }))
const PRICES = { input_cost_per_token: 0.001, output_cost_per_token: 0.01 }
const managed = { type: 'mcp', server: 'docs', require_approval: 'never' }
const own = { type: 'function', function: { name: 'mine', parameters: { type: 'object', properties: {} } } }

function loop(
  script: readonly Said[] | Parameters<typeof scriptedModel>[0],
  tools: Readonly<Record<string, Running>> = { search: ({ q }) => textResult(`found ${q}`) },
  more: object = {},
  descriptions: Readonly<Record<string, string>> = {},
) {
  const { transport, asked } = scriptedModel(script)
  const servers = { docs: tools, files: { read: () => textResult('a file') } }
  const { toolServers, called } = toolServersOf(servers, descriptions)
  const calls = budgetedCalls(
    {
      router_settings: { routing_strategy: 'priority-based-routing', cooldown_time: 0, num_retries: 1 },
      gateway_settings: { mcp_servers: MCP_SERVERS },
      model_list: [placed('m', 'first', { ...PRICES, priority: 0 }), placed('m', 'second', { ...PRICES, priority: 1 })],
      ...more,
    },
    { transport, toolServers },
  )
  const from = calls.caller({ key: { max_budget: 1000 } })
  const ask = async (body: object = {}, signal = newAbort<GatewayError>()) => {
    const { status, text, ...rest } = await calls.ask(
      from,
      { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }], tools: [managed], ...body },
      {},
      undefined,
      { signal },
    )
    await calls.idle()
    return { status, text, ...rest, body: status === 200 ? JSON.parse(text) : undefined }
  }
  return { ...calls, model: asked, called, ask, from }
}

const messagesOf = (asked: { readonly body: { readonly messages?: readonly object[] } } | undefined) =>
  asked?.body.messages

describe('a chat with managed tools', () => {
  it('offers them as functions, runs what is called, and answers with what was run', async () => {
    const run = loop([
      {
        calls: [
          ['docs__search', { q: 'a' }],
          ['docs__search', { q: 'b' }],
        ],
        text: 'Let me look.',
      },
      { text: 'Done.', input: 200, output: 5 },
    ])
    const { status, body } = await run.ask({ tools: [own, managed] })
    expect(status).toBe(200)
    expect(run.model[0]?.body.tools).toEqual([
      own,
      {
        type: 'function',
        function: {
          name: 'docs__search',
          description: 'Does search.',
          parameters: { type: 'object', properties: { q: { type: 'string' } } },
        },
      },
    ])
    expect(messagesOf(run.model[1])).toEqual([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          { id: 'call_1_1', type: 'function', function: { name: 'docs__search', arguments: '{"q":"a"}' } },
          { id: 'call_1_2', type: 'function', function: { name: 'docs__search', arguments: '{"q":"b"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1_1', content: 'found a' },
      { role: 'tool', tool_call_id: 'call_1_2', content: 'found b' },
    ])
    const execution = (id: string, q: string) => ({
      ...{ id, server: 'docs', tool: 'search', name: 'docs__search', arguments: `{"q":"${q}"}` },
      ...{ result: `found ${q}`, is_error: false, duration_ms: expect.any(Number), turn: 1 },
    })
    expect(body.choices).toEqual([
      {
        index: 0,
        message: {
          ...{ role: 'assistant', content: 'Done.', refusal: null, annotations: [] },
          tool_executions: [execution('call_1_1', 'a'), execution('call_1_2', 'b')],
        },
        finish_reason: 'stop',
      },
    ])
    expect(body.usage).toEqual({ prompt_tokens: 300, completion_tokens: 15, total_tokens: 315 })
  })

  it('is one call of the ledger, whose turns are its attempts', async () => {
    const run = loop([{ calls: [['docs__search', { q: 'a' }]] }, { text: 'Done.', input: 200, output: 5 }])
    await run.ask()
    expect(run.finished).toHaveLength(1)
    expect(run.finished[0]).toMatchObject({
      ...{ ending: 'answered', status: 200, attempts: 2, rescuedFrom: [] },
      usage: { inputTokens: 300, outputTokens: 15 },
      costNano: 450_000_000,
      tried: [
        { turn: 1, result: 'answered', usage: { inputTokens: 100 } },
        { turn: 2, result: 'answered', usage: { inputTokens: 200 } },
      ],
      tools: [{ server: 'docs', tool: 'search', result: 'ok', ms: expect.any(Number) }],
    })
    expect(run.emitted.filter(({ type }) => type === 'tool.called')).toMatchObject([
      { server: 'docs', tool: 'search', result: 'ok', callId: run.finished[0]?.callId, requestId: 'request-1' },
    ])
  })

  it('tells the model of whatever goes wrong with a call', async () => {
    const run = loop(
      [
        {
          calls: [
            ['docs__search', '[1]'],
            ['docs__nothing', {}],
            ['docs__slow', {}],
            ['docs__wrong', {}],
            ['docs__empty', {}],
            ['docs__odd', {}],
            ['docs__structured', {}],
          ],
        },
        { text: 'Done.' },
      ],
      {
        search: () => textResult('never'),
        slow: () => Promise.reject(new ToolFailure('timeout', "The server 'docs' did not answer within 5 ms.")),
        wrong: () => textResult('no such page', true),
        empty: () => ({ content: [], isError: true }),
        odd: () => Promise.reject(new Error('a secret')),
        structured: () => ({ content: [], structuredContent: { n: 1 }, isError: false }),
      },
    )
    const { body } = await run.ask()
    const told = body.choices[0].message.tool_executions as { result: string; is_error: boolean; tool: string }[]
    expect(told.map(({ tool, result, is_error }) => [tool, result, is_error])).toEqual([
      ['search', 'The tool was not called: its arguments are not a JSON object.', true],
      ['', "There is no tool 'docs__nothing'.", true],
      ['slow', "The call failed: The server 'docs' did not answer within 5 ms.", true],
      ['wrong', 'no such page', true],
      ['empty', 'The tool reported an error without a text.', true],
      ['odd', 'The call failed inside the gateway.', true],
      ['structured', '{"n":1}', false],
    ])
    expect(run.finished[0]?.tools.map(({ result }) => result)).toEqual([
      ...['failed', 'failed', 'timeout', 'error', 'error', 'failed', 'ok'],
    ])
    // What some vendors would refuse is not sent back to them.
    expect(messagesOf(run.model[1])?.[1]).toMatchObject({
      tool_calls: [{ function: { arguments: '{}' } }, {}, {}, {}, {}, {}, {}],
    })
  })

  it('cuts a result of 10 MB, and says so', async () => {
    const run = loop([{ calls: [['docs__big', {}]] }, { text: 'Done.' }], {
      big: () => textResult('ä'.repeat(5 * 1024 * 1024)),
    })
    const { body } = await run.ask()
    const [{ result }] = body.choices[0].message.tool_executions
    expect(new TextEncoder().encode(result).byteLength).toBeLessThanOrEqual(256 * 1024)
    expect(result).toMatch(/^ä{1000}/)
    expect(result).toMatch(/ä\n\[The result was cut here: at most 262144 bytes are passed on\.\]$/)
  })

  it('shows images, and describes them to a provider that refuses those', async () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' }
    const tools = { look: () => ({ content: [{ type: 'text', text: 'see' }, image], isError: false }) }
    const seeing = loop([{ calls: [['docs__look', {}]] }, { text: 'Seen.' }], tools)
    await seeing.ask()
    expect(messagesOf(seeing.model[1])?.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'call_1_1', content: 'see\n[An image (image/png) belongs to this result.]' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The images of the result of call_1_1:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ])
    const blind = loop([{ calls: [['docs__look', {}]] }, { status: 400 }, { text: 'Told.' }], tools)
    expect(await blind.ask()).toMatchObject({ status: 200 })
    expect(messagesOf(blind.model[2])?.slice(2)).toEqual([
      {
        role: 'tool',
        tool_call_id: 'call_1_1',
        content: expect.stringMatching(/belongs to this result\.\]\n\[Images cannot be shown/),
      },
    ])
  })

  it('describes tools more briefly to a provider that refuses long descriptions, from then on', async () => {
    const refusing = ({ body }: AskedModel): Said => {
      const [{ function: { description = '' } = {} } = {}] = body.tools as { function?: { description?: string } }[]
      return description.length > 1024 ? { status: 400 } : { text: 'Done.' }
    }
    const run = loop(refusing, undefined, {}, { search: 'long '.repeat(1000) })
    expect(await run.ask()).toMatchObject({ status: 200 })
    expect(run.model).toHaveLength(2)
    expect(run.finished[0]?.tried).toMatchObject([{ result: 'failed' }, { result: 'answered' }])
    expect(await run.ask()).toMatchObject({ status: 200 })
    expect(run.model).toHaveLength(3)
  })

  it.each([
    ['none of its own', [managed], 'none'],
    ['a function of its own', [managed, own], undefined],
  ])('asks once more without managed tools after eight turns, with %s', async (_, tools, choice) => {
    const run = loop((_asked, turn) => (turn <= 8 ? { calls: [['docs__search', { q: turn }]] } : { text: 'Done.' }))
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
    const run = loop([{ calls: [['docs__search', { q: 1 }]], text: 'So far.' }])
    const { status, body } = await run.ask()
    expect(status).toBe(200)
    expect(run.called).toHaveLength(8)
    expect(body.choices[0]).toMatchObject({ message: { content: 'So far.' }, finish_reason: 'length' })
    expect(body.choices[0].message).not.toHaveProperty('tool_calls')
  })

  it('runs sixteen calls, and tells of every other that it was not run', async () => {
    const run = loop((_asked, turn) =>
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

  it('gives the client the calls of its own functions beside what was run, and takes the conversation up again', async () => {
    const run = loop([
      { calls: [['docs__search', { q: 'a' }]] },
      {
        calls: [
          ['docs__search', { q: 'b' }],
          ['mine', { x: 1 }],
        ],
      },
      { text: 'Done.' },
    ])
    const { body } = await run.ask({ tools: [own, managed] })
    expect(run.model).toHaveLength(2)
    expect(body.choices[0].finish_reason).toBe('tool_calls')
    const { message } = body.choices[0]
    expect(message.tool_calls).toEqual([
      { id: 'call_2_2', type: 'function', function: { name: 'mine', arguments: '{"x":1}' } },
    ])
    expect(message.tool_executions).toMatchObject([
      { id: 'call_1_1', result: 'found a' },
      { id: 'call_2_1', result: 'found b' },
    ])
    expect(run.finished[0]).toMatchObject({
      attempts: 2,
      firstTokenMs: expect.any(Number),
      usage: { inputTokens: 200 },
    })

    const messages = [
      { role: 'user', content: 'Hi' },
      message,
      { role: 'tool', tool_call_id: 'call_2_2', content: 'two' },
    ]
    await run.ask({ tools: [own, managed], messages })
    const call = (id: string, name: string, args: string) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    })
    expect(messagesOf(run.model[2])).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call('call_1_1', 'docs__search', '{"q":"a"}')] },
      { role: 'tool', tool_call_id: 'call_1_1', content: 'found a' },
      { role: 'assistant', content: null, tool_calls: [call('call_2_1', 'docs__search', '{"q":"b"}')] },
      { role: 'tool', tool_call_id: 'call_2_1', content: 'found b' },
      {
        role: 'assistant',
        content: null,
        refusal: null,
        annotations: [],
        tool_calls: [call('call_2_2', 'mine', '{"x":1}')],
      },
      { role: 'tool', tool_call_id: 'call_2_2', content: 'two' },
    ])
  })

  it('forces a call in the first turn only', async () => {
    for (const tool_choice of ['required', { type: 'function', function: { name: 'docs__search' } }]) {
      const run = loop([{ calls: [['docs__search', { q: 'a' }]] }, { text: 'Done.' }])
      await run.ask({ tool_choice })
      expect(run.model.map(({ body }) => body.tool_choice)).toEqual([tool_choice, undefined])
    }
  })

  it('fails over in the middle, and stays in its group', async () => {
    const run = loop((asked, turn) => {
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

  it('ends with the failure of a turn that nobody answers, and is billed for the turns before', async () => {
    const run = loop([{ calls: [['docs__search', { q: 'a' }]] }, { status: 500 }])
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
    const run = loop([{ calls: [['docs__hang', {}]] }], {
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
    const run = loop([{ calls: [['docs__search', { q: 'a' }]] }, { text: 'Late.', ms: 60_000 }])
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
    const run = loop(
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
