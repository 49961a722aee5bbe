import { describe, expect, it } from 'vitest'
import { responsesDialect } from '../../../src/api/dialects/responses.ts'
import type { ChatChunk, ChatCompletion } from '../../../src/modes/chat-completion.ts'

const decoder = new TextDecoder()
const shell = { type: 'function', name: 'exec', parameters: { type: 'object' } }
const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
}
const space = { type: 'namespace', name: 'mcp__files', tools: [{ type: 'function', name: 'read', parameters: {} }] }
const long = { type: 'function', name: `${'very_'.repeat(15)}long.name` }
const tools = [shell, patch, space, { type: 'local_shell' }, long, { type: 'web_search', external_web_access: true }]

function translated(fields: object) {
  const dropped: string[] = []
  const chat = responsesDialect.toChat({ model: 'm', input: 'Hi', ...fields }, (name) => void dropped.push(name))
  return { chat, dropped }
}

const namesIn = (chat: { tools?: unknown }) =>
  (chat.tools as { function: { name: string } }[]).map((tool) => tool.function.name)

describe('tools of a Responses request', () => {
  it('may be allowed without a mode, which the response has', () => {
    const tool_choice = { type: 'allowed_tools', tools: [{ type: 'function', name: 'exec' }] }
    const whole = { choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] }
    const request = { model: 'm', input: 'Hi', tools, tool_choice }
    expect(responsesDialect.fromChat(whole as unknown as ChatCompletion, request)).toMatchObject({
      tool_choice: { ...tool_choice, mode: 'auto' },
    })
  })

  it('become functions, whose names every vendor takes', () => {
    const { chat, dropped } = translated({ tools })
    const names = namesIn(chat)
    expect(names.slice(0, 4)).toEqual(['exec', 'apply_patch', 'mcp__files__read', 'local_shell'])
    expect(names[4]).toMatch(/^very_\w*_[0-9a-f]{8}$/)
    expect(new Set(names).size).toBe(5)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
    expect(chat.tools?.[1]).toMatchObject({
      type: 'function',
      function: {
        description: 'Edits files.\n\nThe input must follow this lark grammar:\nstart: "x"',
        parameters: { required: ['input'] },
      },
    })
    expect(dropped).toEqual(['tools.web_search'])
  })

  it.each([
    [{ type: 'custom', name: 'apply_patch' }, 'apply_patch'],
    [{ type: 'function', name: 'read', namespace: 'mcp__files' }, 'mcp__files__read'],
    [{ type: 'local_shell' }, 'local_shell'],
  ])('are chosen by %o', (tool_choice, name) => {
    const { chat } = translated({ tools, tool_choice })
    expect(chat.tool_choice).toEqual({ type: 'function', function: { name } })
  })

  it('are called again in the turns that follow', () => {
    const input = [
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', name: 'apply_patch', input: '*** "x"\n' },
      { type: 'function_call', call_id: 'c2', name: 'read', namespace: 'mcp__files', arguments: '{"p":1}' },
      { type: 'local_shell_call', call_id: 'c3', action: { type: 'exec', command: ['ls'], env: {} } },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'text' }] },
      { type: 'local_shell_call_output', call_id: 'c3', output: 'a b' },
    ]
    const { chat, dropped } = translated({ tools, input })
    const called = (id: string, name: string, written: string) => ({
      id,
      type: 'function',
      function: { name, arguments: written },
    })
    expect(chat.messages).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          called('c1', 'apply_patch', '{"input":"*** \\"x\\"\\n"}'),
          called('c2', 'mcp__files__read', '{"p":1}'),
          called('c3', 'local_shell', '{"command":["ls"],"env":{}}'),
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
      { role: 'tool', tool_call_id: 'c2', content: 'text' },
      { role: 'tool', tool_call_id: 'c3', content: 'a b' },
    ])
    expect(dropped).toEqual(['input.web_search_call', 'tools.web_search'])
  })
})

const calls = [
  { id: 'c1', name: 'apply_patch', arguments: '{"input":"*** \\"x\\"\\n"}' },
  { id: 'c2', name: 'mcp__files__read', arguments: '{"p":1}' },
  { id: 'c3', name: 'local_shell', arguments: '{"command":["ls"],"timeout_ms":5}' },
  { id: 'c4', name: 'exec', arguments: '{}' },
  { id: 'c5', name: '', arguments: '{}' },
]
const items = (status: string) => [
  { type: 'custom_tool_call', status, call_id: 'c1', name: 'apply_patch', input: '*** "x"\n' },
  { type: 'function_call', status, call_id: 'c2', name: 'read', namespace: 'mcp__files', arguments: '{"p":1}' },
  {
    type: 'local_shell_call',
    status,
    call_id: 'c3',
    action: { type: 'exec', command: ['ls'], timeout_ms: 5, env: {} },
  },
  { type: 'function_call', status, call_id: 'c4', name: 'exec', arguments: '{}' },
  { type: 'function_call', status, call_id: 'c5', name: long.name, arguments: '{}' },
]

describe('calls of the tools of a Responses request', () => {
  const request = { model: 'm', input: 'Hi', tools }
  const written = calls.map((call) => ({
    ...call,
    name: call.name || (namesIn(responsesDialect.toChat(request))[4] as string),
  }))
  const tool_calls = written.map(({ id, ...called }) => ({ id, type: 'function' as const, function: called }))

  it('come back as the client knows them', () => {
    const message = { role: 'assistant', content: null, tool_calls } as const
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }] as const
    const completion: ChatCompletion = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices }
    const { output } = responsesDialect.fromChat(completion, request) as { output: object[] }
    expect(output).toMatchObject(items('completed'))
  })

  /** @see https://github.com/badlogic/pi-mono, which gives what is told of a call to the item that was added last */
  it.each([
    ['one after the other', 0],
    ['at the same time', 1],
  ])('are streamed as the client knows them, one after the other, where they come %s', (_, mixed) => {
    const stream = responsesDialect.stream(request)
    const chunk = (delta: object, finish_reason: 'tool_calls' | null = null): ChatChunk => ({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta, finish_reason }],
    })
    const ofCalls = tool_calls.map(({ id, type, function: { name, arguments: text } }, index) => [
      chunk({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: text.slice(0, 9) } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: text.slice(9) } }] }),
    ])
    const pieces = mixed ? [0, 1, 2].flatMap((at) => ofCalls.flatMap((one) => one[at] ?? [])) : ofCalls.flat()
    const bytes = [...pieces, chunk({}, 'tool_calls')].map((piece) => decoder.decode(stream.write(piece)))
    const events = `${bytes.join('')}${decoder.decode(stream.close())}`
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)))
    const ofItems = events.filter(({ type }) => type.startsWith('response.output_item.'))
    expect(ofItems.map(({ type, output_index }) => `${type.slice(21)} ${output_index}`)).toEqual(
      calls.flatMap((_, index) => [`added ${index}`, `done ${index}`]),
    )
    const done = ofItems.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
    expect(done).toMatchObject(items('completed'))
    expect(events.map(({ type }) => type)).toContain('response.custom_tool_call_input.done')
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { output: items('completed') } })
  })
})

it('how a response would run in the background, where none runs here, is left out', () => {
  expect(translated({ background: false, background_options: { completion_window: '2h' } })).toEqual({
    chat: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
    dropped: ['background_options'],
  })
})
