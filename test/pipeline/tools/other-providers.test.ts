import { describe, expect, it } from 'vitest'
import { CHAT } from '../../support/budgeted-calls.ts'
import { CALLED, DONE, loopAt } from '../../support/tool-loops-at.ts'

const calls = ['function_call', 'function_call', 'function_call_output', 'function_call_output']
/** A turn as any provider understands it: no item has an id. */
const PORTABLE = ['user', 'message', ...calls].map((type) => [type, undefined])

describe('a response with managed tools, at providers that keep their own items', () => {
  it('gives each what it said itself in full, and the others what they understand', async () => {
    const run = loopAt(
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
    const run = loopAt(
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
    const run = loopAt([CALLED, DONE])
    await run.ask({ store: false })
    expect(run.asked[1]?.body.input?.map(({ type, role, id }) => [type ?? role, id])).toEqual(PORTABLE)
  })

  it('adds to a conversation that the provider keeps only what is new', async () => {
    const run = loopAt([CALLED, DONE])
    expect(await run.ask({ conversation: 'conv_1' })).toMatchObject({ status: 200 })
    expect(run.asked[1]?.body).toMatchObject({
      conversation: 'conv_1',
      input: [
        { type: 'function_call_output', output: 'found a' },
        { type: 'function_call_output', output: 'no such page' },
      ],
    })
  })

  it("shows the client its own name of a server, and counts by the server's", async () => {
    const run = loopAt([
      {
        calls: [
          ['docs__nothing', {}],
          ['docs__search', { q: 'a' }],
        ],
      },
      DONE,
    ])
    const { body } = await run.ask({ tools: [{ type: 'mcp', server: 'docs', server_label: 'handbook' }] })
    const labels = body.output.map(({ server_label }: { server_label?: string }) => server_label)
    expect(labels).toEqual(['handbook', 'handbook', 'handbook', undefined])
    expect(run.finished[0]?.tools).toMatchObject([
      { server: 'docs', tool: '', result: 'failed' },
      { server: 'docs', tool: 'search', result: 'ok' },
    ])
  })

  it('makes as many calls as it may', async () => {
    const run = loopAt((_asked, turn) => (turn < 3 ? CALLED : DONE), ['openai-compatible'])
    expect(await run.ask({ max_tool_calls: 3 })).toMatchObject({ status: 200, body: { status: 'completed' } })
    expect([run.called.length, run.asked.length]).toEqual([3, 3])
  })

  it("leaves a vendor's own server alone that has no such name here", async () => {
    const run = loopAt([DONE])
    const tools = [{ type: 'mcp', server_label: 'elsewhere', connector_id: 'connector_gmail' }]
    await run.ask({ tools })
    expect(run.asked[0]?.body.tools).toEqual(tools)
  })
})

describe('a chat with managed tools, at a provider of another shape', () => {
  it.each(['anthropic', 'gemini', 'bedrock'])('ends after eight turns at %s', async (kind) => {
    const run = loopAt(
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
    const run = loopAt([CALLED, DONE], ['anthropic'])
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
