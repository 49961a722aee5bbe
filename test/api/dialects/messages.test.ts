import { describe, expect, it } from 'vitest'
import { messagesErrorBody } from '../../../src/api/dialects/messages/errors.ts'
import { messagesDialect } from '../../../src/api/dialects/messages.ts'
import { FAILURES, type FailureName, GatewayError } from '../../../src/lib/errors.ts'
import type { ChatChunk, ChatCompletion, ChatDelta } from '../../../src/modes/chat-completion.ts'
import { busyMs } from '../../support/busy-ms.ts'

const decoder = new TextDecoder()
const hello = { role: 'user', content: 'Hi' }
const asked = (fields: object) => ({ model: 'm', max_tokens: 9, messages: [hello], ...fields })
const toChat = (fields: object) => messagesDialect.toChat(asked(fields))
const caller = { type: 'direct' }
const ephemeral = { cache_control: { type: 'ephemeral' } }

describe('a request of the Messages API as chat', () => {
  it.each<[string, object, object]>([
    ['max_tokens', {}, {}],
    ['system', { system: 'Be brief.' }, { messages: [{ role: 'system', content: 'Be brief.' }, hello] }],
    [
      'marks of what to cache',
      { system: [{ type: 'text', text: 'Long.', ...ephemeral }] },
      { messages: [{ role: 'system', content: [{ type: 'text', text: 'Long.', ...ephemeral }] }, hello] },
    ],
    ['sampling that asks for nothing', { temperature: 1, top_p: -1, top_k: -1 }, { temperature: 1 }],
    ['sampling', { temperature: 0.5, top_p: 0.9, top_k: 4 }, { temperature: 0.5, top_p: 0.9, top_k: 4 }],
    ['thinking', { thinking: { type: 'enabled', budget_tokens: 4000 } }, { reasoning_effort: 'medium' }],
    ['no thinking', { thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, {}],
    ['effort', { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, { reasoning_effort: 'max' }],
    ['a tier', { service_tier: 'standard_only' }, { service_tier: 'default' }],
    ['nothing in empty fields', { mcp_servers: [], container: null, context_management: {} }, {}],
    ['a stream', { stream: true }, { stream: true, stream_options: { include_usage: true } }],
    [
      'a document of a schema',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'output', strict: true, schema: { type: 'object' } },
        },
      },
    ],
    [
      'tools',
      {
        tools: [
          { name: 'f', description: 'F', input_schema: { type: 'object' }, eager_input_streaming: true, ...ephemeral },
        ],
        tool_choice: { type: 'tool', name: 'f' },
      },
      {
        tools: [
          { type: 'function', function: { name: 'f', description: 'F', parameters: { type: 'object' } }, ...ephemeral },
        ],
        tool_choice: { type: 'function', function: { name: 'f' } },
      },
    ],
    [
      'pictures and documents',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
              { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
              { type: 'document', title: 'a', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
            ],
          },
        ],
      },
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
              { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
              { type: 'file', file: { filename: 'a', file_data: 'data:application/pdf;base64,JVBE' } },
              { type: 'file', file: { filename: 'document', file_data: 'data:text/plain;base64,R3LDvMOfZQ==' } },
            ],
          },
        ],
      },
    ],
    [
      'thoughts that were signed',
      {
        messages: [
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'a', signature: 'EqQB' },
              { type: 'thinking', thinking: 'b', signature: '' },
              { type: 'thinking', thinking: 'c', signature: 'gateway:unsigned' },
              { type: 'redacted_thinking', data: 'EmwK' },
              { type: 'text', text: 'Hi' },
            ],
          },
        ],
      },
      {
        messages: [
          {
            role: 'assistant',
            content: 'Hi',
            // Some vendors of unsigned thoughts refuse a turn of theirs without them.
            reasoning_content: 'bc',
            thinking_blocks: [
              { type: 'thinking', thinking: 'a', signature: 'EqQB' },
              { type: 'redacted_thinking', data: 'EmwK' },
            ],
          },
        ],
      },
    ],
  ])('says %s', (_, fields, chat) => {
    expect(toChat(fields)).toEqual({ model: 'm', messages: [hello], max_completion_tokens: 9, ...chat })
  })

  const content = (block: object, role = 'user') => ({ messages: [{ role, content: [block] }] })
  it.each<[string, object]>([
    ['container', { container: 'c' }],
    ['mcp_servers', { mcp_servers: [{ type: 'url' }] }],
    ['x_new', { x_new: 1 }],
    ['tools.0.type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['tools.1.type', { tools: [{ name: 'f' }, { type: 'divination_20260101', name: 'd' }] }],
    ['tools.0.x_new', { tools: [{ name: 'f', x_new: 1 }] }],
    [
      'tool_choice.name',
      {
        tools: [{ name: 'f' }, { type: 'web_search_20250305', name: 'web_search' }],
        tool_choice: { type: 'tool', name: 'web_search' },
      },
    ],
    ['tool_choice.type', { tools: [{ name: 'f' }], tool_choice: { type: 'best' } }],
    ['output_config.x_new', { output_config: { effort: 'low', x_new: 1 } }],
    ['output_config.format', { output_config: { format: { type: 'grammar' } } }],
    ['messages.0.content.0.input', content({ type: 'tool_use', id: 't', name: 'f', input: '{"a":1}' }, 'assistant')],
    ['messages.0.content.0.type', content({ type: 'container_upload', file_id: 'x' }, 'assistant')],
    ['messages.0.content.0.source', content({ type: 'image', source: { type: 'file', file_id: 'f' } })],
    ['messages.0.content.0.context', content({ type: 'document', context: 'x', source: {} })],
    ['messages.0.content.0.citations', content({ type: 'document', citations: { enabled: true }, source: {} })],
    ['messages.0.content.0.citations', content({ type: 'search_result', citations: { enabled: true } })],
    [
      'messages.0.content.0.content.0.type',
      content({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'container_upload' }] }),
    ],
  ])('names %s, which chat has no words for', (param, fields) => {
    expect(() => toChat(fields)).toThrow(
      expect.objectContaining({ failure: 'invalid_request', details: expect.objectContaining({ param }) }),
    )
  })
})

describe('hints of a Messages request', () => {
  const f = { name: 'f', input_schema: { type: 'object' } }
  it.each<[string, object]>([
    ['context_management', { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }],
    ['cache_control', ephemeral],
    ['speed', { speed: 'fast' }],
    ['output_config.task_budget', { output_config: { task_budget: { type: 'tokens', total: 9 } } }],
    ['tools.defer_loading', { tools: [{ ...f, defer_loading: true }] }],
    ['tools.eager_input_streaming', { tools: [{ ...f, eager_input_streaming: true }] }],
    ['tools.web_search', { tools: [f, { type: 'web_search_20250305', name: 'web_search' }] }],
    ['tools.tool_search_tool', { tools: [{ type: 'tool_search_tool_bm25_20251119', name: 't' }, f] }],
    ['tool_choice', { tool_choice: { type: 'any' } }],
    [
      'system.x-anthropic-billing-header',
      { system: [{ type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.197.7c8;' }] },
    ],
  ])('leave %s out and name it', (field, fields) => {
    const dropped = new Set<string>()
    const chat = messagesDialect.toChat(asked(fields), (name) => void dropped.add(name))
    expect([...dropped]).toEqual([field])
    expect(Object.keys(chat).sort()).toEqual(
      ['max_completion_tokens', 'messages', 'model', ...('tools' in fields ? ['tools'] : [])].sort(),
    )
    expect(JSON.stringify(chat)).not.toMatch(/defer_loading|eager|web_search|tool_search|billing/)
  })

  it.each([
    { speed: 'standard', tools: [{ ...f, defer_loading: false }] },
    { context_management: { edits: [] }, tools: [], tool_choice: { type: 'auto' } },
  ])('are none where they ask for nothing: %o', (fields) => {
    const dropped = new Set<string>()
    messagesDialect.toChat(asked(fields), (name) => void dropped.add(name))
    expect([...dropped]).toEqual('edits' in (fields.context_management ?? {}) ? ['context_management'] : [])
  })
})

const identity = { id: 'c1', created: 1, model: 'gpt' }

describe('a completion as a message', () => {
  const answered = (message: object, finish_reason = 'stop') =>
    messagesDialect.fromChat(
      {
        ...identity,
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
      } as ChatCompletion,
      asked({}),
    )
  const call = (text: string) => ({
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }],
  })

  it.each<[string, object, string, object]>([
    ['stop', { content: 'Hi' }, 'stop', { content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' }],
    ['length', { content: 'Hi' }, 'length', { stop_reason: 'max_tokens' }],
    ['content_filter', { content: '' }, 'content_filter', { content: [], stop_reason: 'refusal' }],
    ['a refusal', { refusal: 'No.' }, 'stop', { content: [{ type: 'text', text: 'No.' }], stop_reason: 'refusal' }],
    [
      'a call that is called a stop',
      call(''),
      'stop',
      { stop_reason: 'tool_use', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
    ],
    [
      'reasoning',
      { reasoning_content: 'Hm', content: 'Hi' },
      'stop',
      {
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 'gateway:unsigned' },
          { type: 'text', text: 'Hi' },
        ],
      },
    ],
    [
      'signed reasoning',
      { reasoning_content: 'Hm', thinking_blocks: [{ type: 'thinking', thinking: 'Hm', signature: 'EqQB' }] },
      'stop',
      { content: [{ type: 'thinking', thinking: 'Hm', signature: 'EqQB' }] },
    ],
  ])('tells %s', (_, message, finish, expected) => {
    expect(answered(message, finish)).toMatchObject(expected)
  })

  /** @see Mistral's reasoning models */
  it('tells thoughts that are parts of the content as thoughts', () => {
    const parts = [
      {
        type: 'thinking',
        thinking: [
          { type: 'text', text: 'Two and ' },
          { type: 'text', text: 'two.' },
        ],
      },
      { type: 'thinking', thinking: ' So.' },
      { type: 'text', text: 'Four' },
    ]
    expect(answered({ content: parts }, 'stop')).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Two and two. So.', signature: 'gateway:unsigned' },
        { type: 'text', text: 'Four' },
      ],
    })
  })

  it('is read from vendors that leave out, or say in other ways', () => {
    const parts = [
      { type: 'thinking', thinking: [] },
      { type: 'text', text: 'Hi' },
      { type: 'text', text: '!' },
    ]
    const calls = [{ function: { name: 'f', arguments: { a: 1 } } }, { id: '', function: { name: 'g' } }, null]
    expect(answered({ content: parts, reasoning: 'Hm', tool_calls: calls }, 'tool_calls')).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'gateway:unsigned' },
        { type: 'text', text: 'Hi!' },
        { type: 'tool_use', id: expect.stringMatching(/^call_/), name: 'f', input: { a: 1 } },
        { type: 'tool_use', id: expect.stringMatching(/^call_/), name: 'g', input: {} },
      ],
    })
  })

  it('is no answer when a call is only half there', () => {
    expect(() => answered(call('{"a":'))).toThrow(expect.objectContaining({ failure: 'unusable_answer' }))
  })

  it('leaves out a call that the limit of tokens has cut, and tells the limit', () => {
    const cut = { content: 'I will', ...call('{"a":') }
    expect(answered(cut, 'length')).toMatchObject({
      content: [{ type: 'text', text: 'I will' }],
      stop_reason: 'max_tokens',
    })
  })
})

describe('chunks as events', () => {
  type Event = { type: string; index?: number; content_block?: object; delta?: Record<string, unknown>; usage?: object }

  function eventsOf(deltas: readonly ChatDelta[], finish: string | null = 'stop', usage?: object): Event[] {
    const words = messagesDialect.stream(asked({ stream: true }), { likelyInput: () => 28 })
    const chunk = (value: object) => ({ ...identity, object: 'chat.completion.chunk', ...value }) as ChatChunk
    const chunks = [
      ...deltas.map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] })),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }),
      ...(usage ? [chunk({ choices: [], usage })] : []),
    ]
    const written = chunks.map((one) => decoder.decode(words.write(one))).join('') + decoder.decode(words.close())
    return written
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => {
        const [name, data] = frame.split('\n') as [string, string]
        const value = JSON.parse(data.slice(6)) as Event
        expect(name).toBe(`event: ${value.type}`)
        return value
      })
  }
  /** The content as a client puts it together, which also checks that blocks come whole and one after the other. */
  function contentOf(events: readonly Event[]): object[] {
    const content: Record<string, unknown>[] = []
    let open = -1
    for (const { type, index = -1, content_block, delta = {} } of events) {
      if (type === 'content_block_start') {
        expect([open, index]).toEqual([-1, content.length])
        open = index
        content.push({ ...content_block })
      } else if (type === 'content_block_delta') {
        expect(index).toBe(open)
        const block = content[index] as Record<string, string>
        for (const name of ['text', 'thinking', 'signature'] as const)
          if (delta[name]) block[name] = `${block[name] ?? ''}${delta[name]}`
        if (delta.partial_json) block.json = (block.json ?? '') + delta.partial_json
      } else if (type === 'content_block_stop') {
        expect(index).toBe(open)
        open = -1
      }
    }
    expect(open).toBe(-1)
    return content.map(({ json, ...block }) =>
      json === undefined ? block : { ...block, input: JSON.parse(json as string) },
    )
  }
  const call = (index: number, id: string, name: string): ChatDelta => ({
    tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
  })
  const more = (index: number, text: string): ChatDelta => ({ tool_calls: [{ index, function: { arguments: text } }] })

  it('begin, tell and end in order', () => {
    const usage = {
      prompt_tokens: 30,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 20, cache_creation_tokens: 4 },
    }
    const events = eventsOf([{ role: 'assistant', content: '' }, { content: 'Hi' }], 'length', usage)
    expect(events).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'c1',
          type: 'message',
          role: 'assistant',
          model: 'gpt',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 28, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
        },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens', stop_sequence: null },
        usage: { input_tokens: 6, cache_creation_input_tokens: 4, cache_read_input_tokens: 20, output_tokens: 4 },
      },
      { type: 'message_stop' },
    ])
  })

  it('end with the probable input where their provider tells no usage', () => {
    expect(eventsOf([{ content: 'Hi' }]).at(-2)?.usage).toMatchObject({ input_tokens: 28, output_tokens: 0 })
  })

  it('keep interleaved calls apart', () => {
    const events = eventsOf(
      [
        { content: 'Looking.' },
        call(0, 'a', 'weather'),
        call(1, 'b', 'time'),
        more(0, '{"at":'),
        more(1, '{"in":"U'),
        more(0, '"Zürich"}'),
        more(1, 'TC"}'),
        call(2, 'c', 'now'),
      ],
      'tool_calls',
    )
    expect(contentOf(events)).toEqual([
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: 'a', name: 'weather', input: { at: 'Zürich' }, caller },
      { type: 'tool_use', id: 'b', name: 'time', input: { in: 'UTC' }, caller },
      { type: 'tool_use', id: 'c', name: 'now', input: {}, caller },
    ])
    expect(events.at(-2)?.delta?.stop_reason).toBe('tool_use')
  })

  /** @see Ollama and others, which give every call index 0 */
  it('keep calls apart that have one index, or none', () => {
    for (const index of [0, undefined]) {
      const one = (id: string, name: string, text: string) =>
        ({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] }) as ChatDelta
      expect(contentOf(eventsOf([one('a', 'f', '{"x":1}'), one('b', 'g', '{"y":2}')], 'tool_calls'))).toEqual([
        { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 }, caller },
        { type: 'tool_use', id: 'b', name: 'g', input: { y: 2 }, caller },
      ])
    }
  })

  /** @see Azure, which says first what its filters found in the prompt */
  it('begin when the answer has its name', () => {
    const words = messagesDialect.stream(asked({ stream: true }))
    const filters = { ...identity, id: '', model: '', choices: [], prompt_filter_results: [] }
    expect(words.write(filters as unknown as ChatChunk)).toHaveLength(0)
    const first = { ...identity, choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] }
    expect(decoder.decode(words.write(first as unknown as ChatChunk))).toContain(`"id":"${identity.id}"`)
  })

  it('go on past what a vendor leaves out, or says in other ways', () => {
    const odd = [
      { content: [{ type: 'text', text: 'He' }] },
      null,
      { tool_calls: null, content: 'llo' },
      { reasoning: 'Hm', tool_calls: [null] },
    ] as unknown as ChatDelta[]
    expect(contentOf(eventsOf(odd))).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'thinking', thinking: 'Hm', signature: 'gateway:unsigned' },
    ])
    const words = messagesDialect.stream(asked({ stream: true }))
    expect(words.write({ ...identity, usage: null } as unknown as ChatChunk)).toBeInstanceOf(Uint8Array)
  })

  it('tell calls apart that come under one index without an id', () => {
    const whole = (name: string, text: string) => ({ tool_calls: [{ index: 0, function: { name, arguments: text } }] })
    const said = contentOf(
      eventsOf([
        whole('f', '{"a":1}'),
        whole('f', '{"a":2}'),
        whole('g', '{"b":'),
        whole('g', '"}"'),
        whole('g', '}'),
        whole('g', ' '),
        whole('h', '{}'),
      ]),
    )
    expect(said).toMatchObject([
      { type: 'tool_use', name: 'f', input: { a: 1 } },
      { type: 'tool_use', name: 'f', input: { a: 2 } },
      { type: 'tool_use', name: 'g', input: { b: '}' } },
      { type: 'tool_use', name: 'h', input: {} },
    ])
  })

  it('read the arguments of a call once, however many fragments of another come between', () => {
    const words = messagesDialect.stream(asked({ stream: true }))
    const write = (delta: ChatDelta) =>
      words.write({ ...identity, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] })
    write(call(0, 'a', 'f'))
    write(more(0, `{"text":"${'x'.repeat(4_000_000)}`))
    write(call(1, 'b', 'g'))
    const busy = busyMs(() => {
      for (let count = 0; count < 2000; count++) write(more(1, 'x'))
    })
    expect(busy).toBeLessThan(1000)
  })

  it('let a call go out as it comes when the one before it is complete', () => {
    const words = messagesDialect.stream(asked({ stream: true }))
    const write = (delta: ChatDelta) =>
      decoder.decode(
        words.write({
          ...identity,
          object: 'chat.completion.chunk',
          choices: [{ index: 0, delta, finish_reason: null }],
        }),
      )
    write(call(0, 'a', 'f'))
    write(more(0, '{}'))
    expect(write(call(1, 'b', 'g'))).toContain('"name":"g"')
    expect(write(more(1, '{"x":'))).toContain('input_json_delta')
  })

  it('tell thoughts, signed, hidden, and given only at the end', () => {
    expect(
      contentOf(
        eventsOf([
          { reasoning_content: 'Let me ' },
          { reasoning_content: 'see.' },
          { thinking_blocks: [{ type: 'thinking', thinking: 'Let me see.', signature: 'EqQB' }] },
          { thinking_blocks: [{ type: 'redacted_thinking', data: 'EmwK' }] },
          { thinking_blocks: [{ type: 'thinking', thinking: 'Again.', signature: 'EqQC' }] },
          { content: 'Yes' },
          { content: '.' },
        ]),
      ),
    ).toEqual([
      { type: 'thinking', thinking: 'Let me see.', signature: 'EqQB' },
      { type: 'redacted_thinking', data: 'EmwK' },
      { type: 'thinking', thinking: 'Again.', signature: 'EqQC' },
      { type: 'text', text: 'Yes.' },
    ])
  })

  it('end as a refusal when the model refused in words', () => {
    const events = eventsOf([{ refusal: 'No.' }])
    expect(contentOf(events)).toEqual([{ type: 'text', text: 'No.' }])
    expect(events.at(-2)?.delta?.stop_reason).toBe('refusal')
  })
})

describe('errors', () => {
  const KNOWN =
    /^(invalid_request|authentication|billing|permission|not_found|request_too_large|rate_limit|timeout|api|overloaded)(_error)?$/

  it.each(Object.keys(FAILURES) as FailureName[])('%s has a type that clients know', (name) => {
    expect(messagesErrorBody(new GatewayError(name, 'words'))).toEqual({
      type: 'error',
      error: {
        type: expect.stringMatching(KNOWN),
        message: name === 'context_window' ? 'prompt is too long: words' : 'words',
      },
    })
  })
})
