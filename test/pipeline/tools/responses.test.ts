import { describe, expect, it } from 'vitest'
import { CALLED, DONE, loopAt } from '../../support/tool-loops-at.ts'

describe.each([
  ['a provider that speaks it', 'openai'],
  ['one that is asked in chat', 'openai-compatible'],
  ['Anthropic', 'anthropic'],
  ['Gemini', 'gemini'],
  ['Bedrock', 'bedrock'],
])('a response with managed tools, at %s', (_, kind) => {
  it('tells of the tools and the calls as items', async () => {
    const run = loopAt([CALLED, DONE], [kind])
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
    const run = loopAt([CALLED, DONE, DONE], [kind])
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
    const run = loopAt(
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
    expect(body.tools).toEqual([
      { ...mine, description: null, strict: null },
      { type: 'mcp', server: 'docs' },
    ])
    expect(run.asked).toHaveLength(1)
  })

  it("ends with calls of the client's that are no functions, too", async () => {
    const patch = { type: 'custom', name: 'docs__patch' }
    const both = { calls: [['docs__search', { q: 'a' }]], custom: 'a patch' } as const
    const run = loopAt([both], [kind])
    const { body } = await run.ask({ tools: [patch, { type: 'mcp', server: 'docs' }] })
    expect(run.asked).toHaveLength(1)
    expect(body.output.map(({ type }: { type: string }) => type)).toEqual([
      ...['mcp_list_tools', 'mcp_call', 'custom_tool_call'],
    ])
  })

  it('tells of a call of a tool that there is not by the name that the model gave', async () => {
    const run = loopAt([{ calls: [['docs__nothing', {}]] }, DONE, DONE], [kind])
    const { body } = await run.ask()
    const [, called] = body.output
    expect(called).toMatchObject({ type: 'mcp_call', name: 'nothing', status: 'failed' })
    await run.ask({ input: [{ role: 'user', content: 'Hi' }, ...body.output, { role: 'user', content: 'And?' }] })
    expect(JSON.stringify(run.asked[2]?.body)).toContain('docs__nothing"')
  })

  it('shows images', async () => {
    const run = loopAt([{ calls: [['docs__look', {}]] }, DONE], [kind])
    expect(await run.ask()).toMatchObject({ status: 200 })
    expect(JSON.stringify(run.asked[1]?.body)).toMatch(/AAAA/)
  })

  it('can be told to call one tool', async () => {
    const run = loopAt([{ calls: [['docs__search', { q: 'a' }]] }, DONE], [kind])
    await run.ask({ tool_choice: { type: 'mcp', server_label: 'docs', name: 'search' } })
    const chosen = run.asked.map(({ body: { tool_choice, toolConfig } }) => {
      const { functionCallingConfig, toolChoice } = (toolConfig ?? {}) as Record<string, unknown>
      return JSON.stringify(tool_choice ?? functionCallingConfig ?? toolChoice)
    })
    expect(chosen).toEqual([expect.stringContaining('docs__search'), undefined])
  })

  it('may be told to call those of a server alone', async () => {
    const run = loopAt([CALLED, DONE], [kind])
    const mine = { type: 'function', name: 'mine', parameters: { type: 'object', properties: {} } }
    const allowed = [{ type: 'mcp', server_label: 'docs' }]
    const { status } = await run.ask({
      tools: [mine, { type: 'mcp', server: 'docs' }],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: allowed },
    })
    expect(status).toBe(200)
    for (const { body } of run.asked) {
      const sent = JSON.stringify(body)
      expect(sent).toContain('docs__look')
      expect(sent).not.toContain('"mcp"')
    }
  })
})

describe.each(['openai-compatible', 'anthropic', 'gemini', 'bedrock'])(
  'a response with managed tools, at %s, which does not know their items',
  (kind) => {
    const told = (run: ReturnType<typeof loopAt>) => JSON.stringify(run.asked[2]?.body)

    it('is continued by its id without the tools', async () => {
      const run = loopAt([CALLED, DONE, DONE], [kind])
      const { body } = await run.ask()
      const again = await run.ask({ previous_response_id: body.id, input: 'And?', tools: undefined })
      expect(again).toMatchObject({ status: 200 })
      expect(told(run)).toMatch(/docs__search.*found a.*Done\..*And\?/)
    })

    it('is continued by its items, and those of a server that is not asked for this time', async () => {
      const run = loopAt([CALLED, DONE, DONE], [kind])
      const { body } = await run.ask()
      const input = [{ role: 'user', content: 'Hi' }, ...body.output, { role: 'user', content: 'And?' }]
      expect(await run.ask({ input, tools: undefined })).toMatchObject({ status: 200 })
      expect(told(run)).toMatch(/docs__search.*docs__wrong.*found a.*no such page.*Done\..*And\?/)
      expect(told(run)).not.toMatch(/mcp_call|mcp_list_tools|"mcp_/)
    })
  },
)
