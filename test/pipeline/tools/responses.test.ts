import { describe, expect, it } from 'vitest'
import { responsesDialect } from '../../../src/api/dialects/responses.ts'
import { chat } from '../../../src/modes/chat.ts'
import { asMode } from '../../../src/modes/mode.ts'
import type { Endpoint } from '../../../src/pipeline/endpoint.ts'
import { budgetedCalls, CHAT } from '../../support/budgeted-calls.ts'
import { type Said, scriptedModel, textResult, toolServersOf } from '../../support/tool-loops.ts'

const RESPONSES: Endpoint = {
  path: '/v1/responses',
  mode: asMode(chat),
  dialect: responsesDialect,
  errorEvent: responsesDialect.errorEvent,
}

const AWS = { aws_access_key_id: 'AKIATEST', aws_secret_access_key: 'secret', region: 'eu-west-1' }

const entry = (kind: string, id: string, priority: number) => ({
  model_name: 'm',
  deployment_id: id,
  gateway_params: {
    model: `${kind}/${id}`,
    api_base: `https://${id}.test/v1`,
    ...(kind === 'bedrock' ? AWS : { api_key: `key-of-${id}` }),
  },
  model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.01, priority, allow_foreign_ids: ['conv_1'] },
})

function loop(script: Parameters<typeof scriptedModel>[0], kinds: readonly string[] = ['openai']) {
  const { transport, asked } = scriptedModel(script)
  const { toolServers, called } = toolServersOf({
    docs: {
      search: ({ q }) => textResult(`found ${q}`),
      wrong: () => textResult('no such page', true),
      look: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }], isError: false }),
    },
  })
  const calls = budgetedCalls(
    {
      router_settings: { routing_strategy: 'priority-based-routing', cooldown_time: 0, num_retries: 1 },
      gateway_settings: { mcp_servers: [{ server_key: 'docs', base_url: 'http://docs.test/mcp' }] },
      model_list: kinds.map((kind, index) => entry(kind, `place${index}`, index)),
    },
    { transport, toolServers },
  )
  const from = calls.caller({ key: { max_budget: 1000 } })
  const ask = async (body: object = {}, endpoint = RESPONSES) => {
    const { status, text, ...rest } = await calls.ask(
      from,
      { input: 'Hi', tools: [{ type: 'mcp', server_label: 'docs', require_approval: 'never' }], ...body },
      {},
      endpoint,
    )
    await calls.idle()
    return { status, text, ...rest, body: status === 200 ? JSON.parse(text) : undefined }
  }
  return { ...calls, asked, called, ask }
}

const CALLED: Said = {
  calls: [
    ['docs__search', { q: 'a' }],
    ['docs__wrong', {}],
  ],
  thought: 'I look it up.',
  text: 'Wait.',
}
const DONE: Said = { text: 'Done.', input: 200, output: 5 }

describe.each([
  ['a provider that speaks it', 'openai'],
  ['one that is asked in chat', 'openai-compatible'],
  ['Anthropic', 'anthropic'],
  ['Gemini', 'gemini'],
  ['Bedrock', 'bedrock'],
])('a response with managed tools, at %s', (_, kind) => {
  it('tells of the tools and the calls as items', async () => {
    const run = loop([CALLED, DONE], [kind])
    const { status, body } = await run.ask()
    expect(status).toBe(200)
    const [list, ...rest] = body.output
    expect(list).toEqual({
      id: expect.stringMatching(/^mcpl_/),
      type: 'mcp_list_tools',
      server_label: 'docs',
      tools: ['search', 'wrong', 'look'].map((name) => ({
        name,
        description: `Does ${name}.`,
        input_schema: { type: 'object', properties: { q: { type: 'string' } } },
        annotations: null,
      })),
      error: null,
    })
    const called = {
      ...{ id: expect.stringMatching(/^mcp_/), type: 'mcp_call', server_label: 'docs', approval_request_id: null },
    }
    expect(rest.filter(({ type }: { type: string }) => type !== 'reasoning')).toMatchObject([
      { type: 'message', content: [{ text: 'Wait.' }] },
      { ...called, name: 'search', arguments: '{"q":"a"}', output: 'found a', error: null, status: 'completed' },
      { ...called, name: 'wrong', arguments: '{}', output: null, error: 'no such page', status: 'failed' },
      { type: 'message', content: [{ text: 'Done.' }] },
    ])
    expect(body).toMatchObject({
      status: 'completed',
      tools: [{ type: 'mcp', server_label: 'docs' }],
      tool_choice: 'auto',
      usage: { input_tokens: 300, output_tokens: 15, total_tokens: 315 },
    })
    expect(run.finished[0]).toMatchObject({ attempts: 2, usage: { inputTokens: 300 }, costNano: 450_000_000 })
    expect(JSON.stringify(run.asked.map((one) => one.body.tools))).not.toContain('mcp"')
  })

  it('takes up a conversation from its items', async () => {
    const run = loop([CALLED, DONE, DONE], [kind])
    const { body } = await run.ask()
    const input = [{ role: 'user', content: 'Hi' }, ...body.output, { role: 'user', content: 'And?' }]
    const again = await run.ask({ input })
    expect(again.status).toBe(200)
    // The list is known already.
    expect(again.body.output.map(({ type }: { type: string }) => type)).toEqual(['message'])
    const sent = JSON.stringify(run.asked[2]?.body)
    expect(sent).not.toMatch(/mcp_call|mcp_list_tools|"mcp_/)
    expect(sent).toContain('found a')
    expect(sent).toContain('docs__search')
  })

  it('gives the client the calls of its own functions', async () => {
    const mine = { type: 'function', name: 'mine', parameters: { type: 'object', properties: {} } }
    const run = loop(
      [
        {
          calls: [
            ['docs__search', { q: 'a' }],
            ['mine', { x: 1 }],
          ],
        },
      ],
      [kind],
    )
    const { body } = await run.ask({ tools: [mine, { type: 'mcp', server: 'docs' }] })
    expect(body.output.map(({ type, name }: { type: string; name?: string }) => [type, name])).toEqual([
      ['mcp_list_tools', undefined],
      ['mcp_call', 'search'],
      ['function_call', 'mine'],
    ])
    expect(body.tools).toEqual([mine, { type: 'mcp', server: 'docs' }])
    expect(run.asked).toHaveLength(1)
  })

  it('shows images', async () => {
    const run = loop([{ calls: [['docs__look', {}]] }, DONE], [kind])
    expect(await run.ask()).toMatchObject({ status: 200 })
    expect(JSON.stringify(run.asked[1]?.body)).toMatch(/AAAA/)
  })

  it('can be told to call one tool', async () => {
    const run = loop([{ calls: [['docs__search', { q: 'a' }]] }, DONE], [kind])
    await run.ask({ tool_choice: { type: 'mcp', server_label: 'docs', name: 'search' } })
    const chosen = run.asked.map(({ body: { tool_choice, toolConfig } }) => {
      const { functionCallingConfig, toolChoice } = (toolConfig ?? {}) as Record<string, unknown>
      return JSON.stringify(tool_choice ?? functionCallingConfig ?? toolChoice)
    })
    expect(chosen).toEqual([expect.stringContaining('docs__search'), undefined])
  })
})

const calls = ['function_call', 'function_call', 'function_call_output', 'function_call_output']
/** A turn as any provider understands it: no item has an id. */
const PORTABLE = ['user', 'message', ...calls].map((type) => [type, undefined])

describe('a response with managed tools, at providers that keep their own items', () => {
  it('gives each what it said itself in full, and the others what they understand', async () => {
    const run = loop(
      (asked, turn) => {
        if (turn === 1) return CALLED
        return asked.origin.includes('place0') ? { status: 500 } : DONE
      },
      ['openai', 'openai'],
    )
    const { status, deployment } = await run.ask()
    expect([status, deployment]).toEqual([200, 'place1'])
    const types = run.asked.map(({ body }) => body.input?.map?.(({ type, role, id }) => [type ?? role, id]))
    expect(types.slice(1)).toEqual([
      [
        ['user', undefined],
        ['reasoning', 'rs_1'],
        ['message', 'msg_1'],
        ['function_call', 'fc_1_1'],
        ['function_call', 'fc_1_2'],
        ['function_call_output', undefined],
        ['function_call_output', undefined],
      ],
      PORTABLE,
    ])
  })

  it('asks first where the turn before was answered, whatever the strategy says', async () => {
    const run = loop(
      (asked, turn) => {
        if (turn === 1) return { status: 500 }
        return turn === 2 ? CALLED : { ...DONE, text: asked.origin }
      },
      ['openai', 'openai'],
    )
    const { body } = await run.ask()
    expect(body.output.at(-1).content[0].text).toBe('https://place1.test')
    expect(run.finished[0]?.tried.map(({ deployment, turn }) => [deployment, turn])).toEqual([
      ['place0', 1],
      ['place1', 1],
      ['place1', 2],
    ])
  })

  it('sends no item that a provider was told not to store', async () => {
    const run = loop([CALLED, DONE])
    await run.ask({ store: false })
    expect(run.asked[1]?.body.input?.map(({ type, role, id }) => [type ?? role, id])).toEqual(PORTABLE)
  })

  it('adds to a conversation that the provider keeps only what is new', async () => {
    const run = loop([CALLED, DONE])
    expect(await run.ask({ conversation: 'conv_1' })).toMatchObject({ status: 200 })
    expect(run.asked[1]?.body).toMatchObject({
      conversation: 'conv_1',
      input: [
        { type: 'function_call_output', output: 'found a' },
        { type: 'function_call_output', output: 'no such page' },
      ],
    })
  })

  it('makes as many calls as it may', async () => {
    const run = loop((_asked, turn) => (turn < 3 ? CALLED : DONE), ['openai-compatible'])
    expect(await run.ask({ max_tool_calls: 3 })).toMatchObject({ status: 200, body: { status: 'completed' } })
    expect([run.called.length, run.asked.length]).toEqual([3, 3])
  })

  it("leaves a vendor's own server alone that has no such name here", async () => {
    const run = loop([DONE])
    const tools = [{ type: 'mcp', server_label: 'elsewhere', connector_id: 'connector_gmail' }]
    await run.ask({ tools })
    expect(run.asked[0]?.body.tools).toEqual(tools)
  })
})

describe('a chat with managed tools, at a provider of another shape', () => {
  it.each(['anthropic', 'gemini', 'bedrock'])('ends after eight turns at %s', async (kind) => {
    const run = loop(
      (_asked, turn) => (run.called.length < 8 ? { calls: [['docs__search', { q: turn }]] } : DONE),
      [kind],
    )
    const body = {
      input: undefined,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'mcp', server: 'docs' }],
    }
    const { status, body: answered } = await run.ask(body, CHAT)
    expect(status).toBe(200)
    expect(answered.choices[0].message).toMatchObject({ content: 'Done.' })
    expect(run.asked).toHaveLength(9)
  })

  it('is told of calls and results as that provider writes them', async () => {
    const run = loop([CALLED, DONE], ['anthropic'])
    const { status, body } = await run.ask(
      { input: undefined, messages: [{ role: 'user', content: 'Hi' }], tools: [{ type: 'mcp', server: 'docs' }] },
      CHAT,
    )
    expect(status).toBe(200)
    expect(run.asked[0]?.body.tools).toMatchObject([
      { name: 'docs__search' },
      { name: 'docs__wrong' },
      { name: 'docs__look' },
    ])
    expect(run.asked[1]?.body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Wait.' },
          { type: 'tool_use', id: 'call_1_1', name: 'docs__search', input: { q: 'a' } },
          { type: 'tool_use', id: 'call_1_2', name: 'docs__wrong', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1_1', content: 'found a' },
          { type: 'tool_result', tool_use_id: 'call_1_2', content: 'no such page' },
        ],
      },
    ])
    expect(body.choices[0].message).toMatchObject({ content: 'Done.', tool_executions: [{}, { is_error: true }] })
    expect(body.usage).toMatchObject({ prompt_tokens: 300, completion_tokens: 15 })
  })
})
