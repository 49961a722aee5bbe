import { describe, expect, it } from 'vitest'
import { ToolFailure } from '../../../src/mcp/tool-servers.ts'
import { detailOf } from '../../../src/telemetry/call-detail.ts'
import type { CallFinished } from '../../../src/telemetry/events.ts'
import type { AskedModel, ScriptedReply } from '../../support/model-replies.ts'
import { managed, messagesOf, own, textResult, toolLoop } from '../../support/tool-loops.ts'

describe('a chat with managed tools', () => {
  it('offers them as functions, runs what is called, and answers with what was run', async () => {
    const run = toolLoop([
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
    const run = toolLoop([{ calls: [['docs__search', { q: 'a' }]] }, { text: 'Done.', input: 200, output: 5 }])
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
    const { attempts, tool_calls } = JSON.parse(detailOf(run.finished[0] as CallFinished) ?? '')
    const [first, second] = attempts
    const [called] = tool_calls
    expect([first.turn, second.turn, called.server, called.tool]).toEqual([1, 2, 'docs', 'search'])
    // On one axis: the tool is called between the turns.
    expect(called.started_ms).toBeGreaterThanOrEqual(first.started_ms + first.total_ms - 0.01)
    expect(second.started_ms).toBeGreaterThanOrEqual(called.started_ms + called.total_ms - 0.01)
  })

  it('tells the model of whatever goes wrong with a call', async () => {
    const run = toolLoop(
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
            ['docs__number', {}],
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
        number: () => ({ content: [], structuredContent: 0, isError: false }),
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
      ['number', '0', false],
    ])
    expect(run.finished[0]?.tools.map(({ result }) => result)).toEqual([
      ...['failed', 'failed', 'timeout', 'error', 'error', 'failed', 'ok', 'ok'],
    ])
    // What some vendors would refuse is not sent back to them.
    expect(messagesOf(run.model[1])?.[1]).toMatchObject({
      tool_calls: [{ function: { arguments: '{}' } }, {}, {}, {}, {}, {}, {}, {}],
    })
  })

  it('cuts a result of 10 MB, and says so', async () => {
    const run = toolLoop([{ calls: [['docs__big', {}]] }, { text: 'Done.' }], {
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
    const seeing = toolLoop([{ calls: [['docs__look', {}]] }, { text: 'Seen.' }], tools)
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
    const blind = toolLoop([{ calls: [['docs__look', {}]] }, { status: 400 }, { text: 'Told.' }], tools)
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
    const refusing = ({ body }: AskedModel): ScriptedReply => {
      const [{ function: { description = '' } = {} } = {}] = body.tools as { function?: { description?: string } }[]
      return description.length > 1024 ? { status: 400 } : { text: 'Done.' }
    }
    const run = toolLoop(refusing, undefined, {}, { search: 'long '.repeat(1000) })
    expect(await run.ask()).toMatchObject({ status: 200 })
    expect(run.model).toHaveLength(2)
    expect(run.finished[0]?.tried).toMatchObject([{ result: 'failed' }, { result: 'answered' }])
    expect(await run.ask()).toMatchObject({ status: 200 })
    expect(run.model).toHaveLength(3)
  })

  it('gives the client the calls of its own functions beside what was run, and takes the conversation up again', async () => {
    const run = toolLoop([
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

  it("leaves functions of the client's alone that are named like those of a server", async () => {
    const mine = { type: 'function', function: { name: 'docs__mine', parameters: { type: 'object' } } }
    const run = toolLoop([{ calls: [['docs__mine', {}]] }])
    const { body } = await run.ask({ tools: [mine, managed] })
    expect(body.choices[0].message).toMatchObject({ tool_calls: [{ id: 'call_1_1' }], tool_executions: [] })
  })

  it('forces a call in the first turn only', async () => {
    for (const tool_choice of ['required', { type: 'function', function: { name: 'docs__search' } }]) {
      const run = toolLoop([{ calls: [['docs__search', { q: 'a' }]] }, { text: 'Done.' }])
      await run.ask({ tool_choice })
      expect(run.model.map(({ body }) => body.tool_choice)).toEqual([tool_choice, undefined])
    }
  })

  it('calls no tool of a server that was turned off meanwhile, and each as its server is set up now', async () => {
    const calls = { calls: [['docs__search', {}]] } as const
    const run = toolLoop([calls, calls, calls, { text: 'Done.' }])
    const { registry, toolServers } = run.services
    const asked: (number | undefined)[] = []
    const { call } = toolServers
    Object.assign(toolServers, {
      call(...of: Parameters<typeof call>) {
        asked.push(of[0].timeoutMs)
        const changed = { ...of[0], timeoutMs: 7, enabled: asked.length < 2 }
        Object.assign(registry, { toolServers: new Map([['docs', changed]]) })
        return call(...of)
      },
    })
    const { body } = await run.ask()
    expect(asked).toEqual([expect.any(Number), 7])
    expect(body.choices[0].message.tool_executions.map(({ result }: { result: string }) => result)).toEqual([
      ...['found undefined', 'found undefined'],
      "The call failed: the tool server 'docs' is not there any more.",
    ])
  })

  it.each([
    ['short', 'Hi'],
    ['long', 'x'.repeat(200_000)],
  ])('is continued without the tools, in words that every provider knows: a %s conversation', async (_, content) => {
    const run = toolLoop([{ calls: [['docs__search', { q: 'a' }]] }, { text: 'Done.' }])
    const { body } = await run.ask({ messages: [{ role: 'user', content }] })
    const { message } = body.choices[0]
    expect(message.tool_executions).toHaveLength(1)
    const messages = [{ role: 'user', content }, message, { role: 'user', content: 'And?' }]
    expect(await run.ask({ messages, tools: undefined })).toMatchObject({ status: 200 })
    expect(run.model[2]?.body).not.toHaveProperty('tools')
    expect(messagesOf(run.model[2])).toMatchObject([
      { role: 'user', content },
      { role: 'assistant', tool_calls: [{ id: 'call_1_1', function: { name: 'docs__search' } }] },
      { role: 'tool', tool_call_id: 'call_1_1', content: 'found a' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'And?' },
    ])
    expect(messagesOf(run.model[2])?.[3]).not.toHaveProperty('tool_executions')
  })
})
