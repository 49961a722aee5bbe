import { describe, expect, it } from 'vitest'
import { chatDialect } from '../../../src/api/dialects/chat.ts'
import { messagesDialect } from '../../../src/api/dialects/messages.ts'
import { responsesDialect } from '../../../src/api/dialects/responses.ts'
import { chat } from '../../../src/modes/chat.ts'
import { asMode, type ModelRequest } from '../../../src/modes/mode.ts'
import type { Dialect } from '../../../src/pipeline/translate/dialect.ts'
import { translatorOf } from '../../../src/pipeline/translate/translator.ts'
import { wholeBody } from '../../../src/transport/whole-body.ts'
import { deploymentOf } from '../../support/deployment-of.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const DOTTED = 'files.read/écrit'
const LONG = `mcp__${'a_server_of_a_long_name__'.repeat(4)}read`
const ids = ['functions.read:0', 'toolu_01AbCdEfGhIjKlMnOpQrStUv', `call_${'x'.repeat(60)}`]

const parameters = { type: 'object', properties: {} }
const inChat = {
  model: 'm',
  messages: [
    { role: 'user', content: 'Read' },
    {
      role: 'assistant',
      content: null,
      tool_calls: ids.map((id, at) => ({
        id,
        type: 'function',
        function: { name: at === 0 ? DOTTED : LONG, arguments: '{}' },
      })),
    },
    ...ids.map((tool_call_id) => ({ role: 'tool', tool_call_id, content: 'text' })),
  ],
  tools: [DOTTED, LONG, 'plain'].map((name) => ({ type: 'function', function: { name, parameters } })),
  tool_choice: { type: 'function', function: { name: LONG } },
}
const inMessages = {
  model: 'm',
  max_tokens: 100,
  messages: [
    { role: 'user', content: 'Read' },
    {
      role: 'assistant',
      content: ids.map((id, at) => ({ type: 'tool_use', id, name: at === 0 ? DOTTED : LONG, input: {} })),
    },
    { role: 'user', content: ids.map((tool_use_id) => ({ type: 'tool_result', tool_use_id, content: 'text' })) },
  ],
  tools: [DOTTED, LONG, 'plain'].map((name) => ({ name, input_schema: parameters })),
  tool_choice: { type: 'tool', name: LONG },
}
const inResponses = {
  model: 'm',
  input: [
    { role: 'user', content: 'Read' },
    ...ids.map((call_id) => ({ type: 'function_call', call_id, name: LONG, arguments: '{}' })),
    ...ids.map((call_id) => ({ type: 'function_call_output', call_id, output: 'text' })),
  ],
  tools: [LONG, 'plain'].map((name) => ({ type: 'function', name, parameters })),
}

function translatorTo(model: string, dialect: Dialect) {
  const deployment = deploymentOf(model)
  const translator = translatorOf(deployment, asMode(chat), dialect)
  if (!translator) throw new RangeError(model)
  return { translator, connection: deployment.connection }
}

function outgoing(body: object, streamed = false) {
  return {
    body: body as ModelRequest,
    bytes: encoder.encode(JSON.stringify(body)),
    streamed,
  }
}

async function sent(model: string, dialect: Dialect, body: object): Promise<string> {
  const { translator, connection } = translatorTo(model, dialect)
  const whole = wholeBody((await translator.request(outgoing(body), connection)).body)
  return typeof whole === 'string' ? whole : decoder.decode(whole)
}

/** The members of a body under any of some names, however deep. */
function under(value: unknown, names: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => under(item, names))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    names.includes(name) && typeof inner === 'string' ? [inner] : under(inner, names),
  )
}

/** What each vendor takes, by its own documentation. */
const VENDORS = [
  ['anthropic/claude-sonnet-4-5', /^[a-zA-Z0-9_-]{1,128}$/, /^[a-zA-Z0-9_-]+$/],
  ['bedrock/amazon.nova-pro-v1:0', /^[a-zA-Z0-9_-]{1,64}$/, /^[a-zA-Z0-9_-]{1,64}$/],
  ['gemini/gemini-3-pro', /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/, /./],
  ['mistral/mistral-large-latest', /^[a-zA-Z0-9_-]{1,64}$/, /^[a-zA-Z0-9]{9}$/],
  ['openai/gpt-4o', /^[a-zA-Z0-9_-]{1,64}$/, /^.{1,40}$/],
  ['openai-compatible/llama-3.3-70b', /^[a-zA-Z0-9_-]{1,64}$/, /^.{1,40}$/],
] as const
const CLIENTS = [
  ['Messages', messagesDialect, inMessages],
  ['Responses', responsesDialect, inResponses],
  ['chat', chatDialect, inChat],
] as const
const OWN = ['Messages anthropic', 'Responses openai', 'chat openai', 'chat openai-compatible']
const PAIRS = VENDORS.flatMap(([model, names, calls]) =>
  CLIENTS.filter(([client]) => !OWN.includes(`${client} ${model.split('/')[0]}`)).map(
    ([client, dialect, body]) => [client, model, dialect, body, names, calls] as const,
  ),
)

describe('names of functions and ids of calls', () => {
  it.each(PAIRS)(
    'of a %s client fit %s, and each call keeps its result',
    async (_, model, dialect, body, names, calls) => {
      const asked = JSON.parse(await sent(model, dialect, body))
      const told = under(asked, ['name'])
      expect(told).toContain('plain')
      for (const name of told) expect(name).toMatch(names)
      const made = under(asked, ['id', 'toolUseId', 'tool_use_id', 'tool_call_id'])
      for (const id of made) expect(id).toMatch(calls)
      // Gemini before its third generation knows no ids.
      expect(made).toHaveLength(6)
      expect(made.slice(0, 3)).toEqual(made.slice(3))
      expect(new Set(made).size).toBe(3)
      // The same conversation is told in the same words, for the sake of prompt caches.
      expect(await sent(model, dialect, body)).toBe(JSON.stringify(asked))
    },
  )

  it('that fit are told as they are', async () => {
    const id = 'AbCdEf123'
    const body = {
      model: 'mistral-large-latest',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'plain', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: id, content: 'text' },
      ],
      tools: [{ type: 'function', function: { name: 'plain', parameters: { type: 'object' } } }],
    }
    expect(await sent('mistral/mistral-large-latest', chatDialect, body)).toBe(JSON.stringify(body))
    const own = { ...body, model: 'gpt-4o', tools: inChat.tools, messages: inChat.messages }
    expect(await sent('openai-compatible/gpt-4o', chatDialect, own)).toBe(JSON.stringify(own))
  })
})

describe('a call of a function with another name', () => {
  const named = async (model: string, dialect: Dialect, body: object) => {
    const told = under(JSON.parse(await sent(model, dialect, body)), ['name'])
    return told.find((name) => name.startsWith('files')) as string
  }
  const inChatShape = (name: string) => ({
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: '{}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })
  const inMessagesShape = (name: string) => ({
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'tool_use', id: 'toolu_1', name, input: {} }],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  })
  const cases = [
    ['Messages', 'openai-compatible/llama-3.3-70b', messagesDialect, inMessages, inChatShape],
    ['chat', 'anthropic/claude-sonnet-4-5', chatDialect, inChat, inMessagesShape],
    ['Messages', 'mistral/mistral-large-latest', messagesDialect, inMessages, inChatShape],
  ] as const

  it.each(cases)('reaches a %s client of %s under its own, whole', async (_, model, dialect, body, shape) => {
    const { translator, connection } = translatorTo(model, dialect)
    const call = outgoing(body)
    await translator.request(call, connection)
    const name = await named(model, dialect, body)
    const reply = translator.reply(encoder.encode(JSON.stringify(shape(name))), {}, call)
    expect(under(JSON.parse(decoder.decode(reply.bytes)), ['name'])).toEqual([DOTTED])
  })

  it('reaches the client under its own, streamed', async () => {
    const { translator, connection } = translatorTo('openai-compatible/llama-3.3-70b', messagesDialect)
    const call = outgoing({ ...inMessages, stream: true }, true)
    await translator.request(call, connection)
    const name = await named('openai-compatible/llama-3.3-70b', messagesDialect, inMessages)
    expect(name).not.toBe(DOTTED)
    const tool_calls = [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: '{}' } }]
    const chunk = (choice: object) =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`
    const events = `${chunk({ delta: { tool_calls }, finish_reason: null })}${chunk({ delta: {}, finish_reason: 'tool_calls' })}data: [DONE]\n\n`
    const reader = translator.stream?.(call, {})
    const text = (reader?.push(encoder.encode(events)) ?? [])
      .map(({ out }) => (out ? decoder.decode(out) : ''))
      .join('')
    expect(text).toContain(`"name":${JSON.stringify(DOTTED)}`)
    expect(text).not.toContain(name)
    expect(text).toContain('event: message_stop')
  })
})

describe("a client that asks for 'functions'", () => {
  const read = { name: 'read', parameters }
  const asked = {
    model: 'm',
    functions: [read],
    function_call: { name: 'read' },
    messages: [
      { role: 'user', content: 'Read' },
      { role: 'assistant', content: null, function_call: { name: 'read', arguments: '{}' } },
      { role: 'function', name: 'read', content: 'text' },
    ],
  }
  const called = {
    tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'read', arguments: '{"a":1}' } }],
  }
  const heard = { function_call: { name: 'read', arguments: '{"a":1}' } }
  const model = 'xai/grok-4.6'

  it('has its vendor asked for tools, where that does not know them', async () => {
    const own = { ...asked, model: 'gpt-4o' }
    expect(await sent('openai/gpt-4o', chatDialect, own)).toBe(JSON.stringify(own))
    expect(JSON.parse(await sent(model, chatDialect, asked))).toEqual({
      model: 'grok-4.6',
      tools: [{ type: 'function', function: read }],
      tool_choice: { type: 'function', function: { name: 'read' } },
      messages: [
        asked.messages[0],
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'text' },
      ],
    })
  })

  it('hears of a call in its own words, whole and streamed', () => {
    const { translator } = translatorTo(model, chatDialect)
    const choice = (said: object) => ({ id: 'c', choices: [{ index: 0, ...said, finish_reason: 'tool_calls' }] })
    const whole = encoder.encode(JSON.stringify(choice({ message: called })))
    expect(JSON.parse(decoder.decode(translator.reply(whole, {}, outgoing(asked)).bytes))).toMatchObject({
      choices: [{ message: heard, finish_reason: 'function_call' }],
    })
    const event = encoder.encode(`data: ${JSON.stringify(choice({ delta: called }))}\n\n`)
    const [step] = translator.stream?.(outgoing({ ...asked, stream: true }, true), {}).push(event) ?? []
    const told = JSON.parse(decoder.decode(step?.out).slice('data: '.length))
    expect(told.choices).toEqual([{ index: 0, delta: heard, finish_reason: 'function_call' }])
  })
})

it("a client that asks for reasoning in OpenRouter's words hears of each piece in them, and of usage no more than is known", () => {
  const { translator } = translatorTo('deepseek/deepseek-v4-flash', chatDialect)
  const events = [{ reasoning_content: 'H' }, { reasoning_content: 'm.' }, { content: 'Hi' }].map((delta) => ({
    choices: [{ index: 0, delta, finish_reason: null }],
  }))
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, prompt_tokens_details: null }
  const said = [...events, { choices: [], usage }].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const asked = outgoing({ model: 'm', messages: [], stream: true, stream_options: { include_usage: true } }, true)
  const steps = translator.stream?.({ ...asked, readsDetails: true }, {}).push(encoder.encode(said)) ?? []
  const told = steps.map(({ out }) => JSON.parse(decoder.decode(out).slice('data: '.length)))
  const detail = { type: 'reasoning.text', format: 'unknown', index: 0 }
  expect(told.map(({ choices }) => choices[0]?.delta)).toEqual([
    { reasoning_content: 'H', reasoning: 'H', reasoning_details: [{ ...detail, text: 'H' }] },
    { reasoning_content: 'm.', reasoning: 'm.', reasoning_details: [{ ...detail, text: 'm.' }] },
    { content: 'Hi' },
    undefined,
  ])
  expect(told.at(-1).usage).toEqual(usage)
})
