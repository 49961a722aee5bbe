import { expect, it } from 'vitest'
import { chatDialect } from '../../src/api/dialects/chat.ts'
import { messagesDialect } from '../../src/api/dialects/messages.ts'
import { responsesDialect } from '../../src/api/dialects/responses.ts'
import { parseLazily } from '../../src/lib/json/lazy-json.ts'
import { chat } from '../../src/modes/chat.ts'
import { asMode, type ModelRequest } from '../../src/modes/mode.ts'
import type { Dialect } from '../../src/pipeline/translate/dialect.ts'
import { translatorOf } from '../../src/pipeline/translate/translator.ts'
import { openaiFailure } from '../../src/providers/openai/failure.ts'
import type { Notes } from '../../src/providers/provider.ts'
import { wholeBody } from '../../src/transport/whole-body.ts'
import { deploymentOf } from '../support/deployment-of.ts'

async function asked(dialect: Dialect, model: string, body: object, notes: Notes = { dropped: undefined }) {
  const deployment = deploymentOf(model)
  const translator = translatorOf(deployment, asMode(chat), dialect)
  const request = body as ModelRequest
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const outgoing = { body: request, bytes, streamed: true, notes }
  const whole = wholeBody((await translator?.request(outgoing, deployment.connection))?.body ?? '{}')
  const sent = JSON.parse(typeof whole === 'string' ? whole : new TextDecoder().decode(whole))
  return sent
}

const messages = [{ role: 'user', content: 'Hi' }]

it.each([
  ['openai/gpt-5', { max_completion_tokens: 9 }],
  ['openai/gpt-4o', { max_tokens: 9 }],
  ['openai-compatible/m', { max_tokens: 9 }],
])('%s is told the limit under the name that it takes', async (model, expected) => {
  const sent = await asked(chatDialect, model, { model: 'm', messages, max_tokens: 9 })
  const { max_tokens, max_completion_tokens } = sent
  expect({ max_tokens, max_completion_tokens }).toEqual({ ...expected })
})

it.each([
  ['openai/gpt-5', 'developer'],
  ['mistral/m', 'system'],
  ['openai-compatible/m', 'system'],
])('%s is told instructions of the developer as those of the %s', async (model, role) => {
  const turns = [{ role: 'developer', content: 'Be brief.' }, ...messages]
  expect((await asked(chatDialect, model, { model: 'm', messages: turns })).messages[0]).toEqual({
    role,
    content: 'Be brief.',
  })
})

const cited = { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 3 }

it.each([[[]], [[{ type: 'url_citation', url_citation: cited }]]])(
  'Mistral is not told the empty fields of an answer, nor what it cites: %j',
  async (annotations) => {
    const answer = { role: 'assistant', content: 'Hi.', refusal: null, annotations, audio: null }
    const turns = [...messages, answer, ...messages]
    const sent = await asked(chatDialect, 'mistral/m', { model: 'm', messages: turns })
    expect(sent.messages[1]).toEqual({ role: 'assistant', content: 'Hi.' })
  },
)

const answer = {
  role: 'assistant',
  content: null,
  reasoning_content: 'I read it.',
  thinking_blocks: [{ type: 'thinking', thinking: 'I read it.', signature: 's' }],
  images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
  prefix: false,
  parsed: null,
  tool_calls: [
    {
      index: 0,
      id: 'call_1234',
      type: 'function',
      function: { name: 'read', arguments: '{}', parsed_arguments: {} },
      extra_content: { google: { thought_signature: 'x' } },
    },
  ],
}
const result = { role: 'tool', tool_call_id: 'call_1234', content: 'It is empty.' }

it.each(['openai/gpt-5', 'mistral/m', 'groq/m', 'fireworks/m'])(
  '%s is not told what only other vendors know of an answer',
  async (model) => {
    const sent = await asked(chatDialect, model, { model: 'm', messages: [...messages, answer, result] })
    const { id, type, function: called } = sent.messages[1].tool_calls[0]
    expect(sent.messages[1].tool_calls).toEqual([{ id, type, function: called }])
    expect(called).toEqual({ name: 'read', arguments: '{}' })
    const thought = /groq/.test(model) ? ['reasoning'] : /fireworks/.test(model) ? ['reasoning_content'] : []
    expect(Object.keys(sent.messages[1]).sort()).toEqual(['content', 'role', 'tool_calls', ...thought].sort())
  },
)

it.each([
  ['fireworks/m', { prompt_cache_key: 'k', user: 'u' }],
  ['cerebras/m', { user: 'u' }],
  ['mistral/m', { prompt_cache_key: 'k' }],
  ['groq/m', { user: 'u' }],
  ['nvidia/m', {}],
  ['huggingface/m', { user: 'u' }],
])('%s gets none of the hints that it is known to refuse, in chat either', async (model, expected) => {
  const hints = { store: false, verbosity: 'low', prompt_cache_key: 'k', user: 'u' }
  const sent = await asked(chatDialect, model, { model: 'm', messages, ...hints })
  const { store, verbosity, prompt_cache_key, user } = sent
  expect({ store, verbosity, prompt_cache_key, user }).toEqual(expected)
})

const sampling = { temperature: 0, top_p: 0.9 }
const cool = { temperature: 0 }
const usual = { temperature: 1, top_p: 1 }
const dialects = { chat: chatDialect, responses: responsesDialect, messages: messagesDialect }

it.each([
  ['chat', 'openai/gpt-5', { ...sampling, presence_penalty: 0.1, frequency_penalty: 0.1, top_k: 9 }, {}],
  ['chat', 'openai/gpt-5', { ...usual, presence_penalty: 0 }, { ...usual, presence_penalty: 0 }],
  ['chat', 'openai/gpt-5.2', { ...sampling, reasoning_effort: 'none' }, sampling],
  ['chat', 'openai/gpt-4o', { ...sampling, top_k: 9 }, sampling],
  ['chat', 'moonshot/kimi-k3', sampling, {}],
  ['chat', 'mistral/m', { ...sampling, top_k: 9 }, sampling],
  ['chat', 'openai-compatible/gpt-5', { ...sampling, top_k: 9 }, { ...sampling, top_k: 9 }],
  ['responses', 'openai/gpt-5', sampling, {}],
  ['responses', 'openai/gpt-5.2', { ...sampling, reasoning: { effort: 'none' } }, sampling],
  ['responses', 'xai/grok-4.5', sampling, sampling],
  ['messages', 'anthropic/claude-sonnet-5-5', { ...sampling, top_k: 9 }, {}],
  ['messages', 'vertex/claude-sonnet-5-5', cool, {}],
  ['messages', 'anthropic/claude-haiku-4-5', sampling, cool],
  ['messages', 'anthropic/claude-haiku-4-5', { ...cool, thinking: { type: 'enabled', budget_tokens: 1024 } }, {}],
  ['messages', 'anthropic/claude-haiku-4-5', { temperature: 1, top_k: 9 }, { temperature: 1, top_k: 9 }],
  ['messages', 'anthropic/minimax-m3', { ...sampling, top_k: 9 }, { ...sampling, top_k: 9 }],
] as const)('a client of %s loses the settings that %s refuses: %j', async (dialect, model, more, expected) => {
  const notes: Notes = { dropped: undefined }
  const sent = await asked(dialects[dialect], model, { model: 'm', messages, max_tokens: 2048, ...more }, notes)
  const names = ['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty']
  expect(Object.fromEntries(Object.entries(sent).filter(([field]) => names.includes(field)))).toEqual(expected)
  const lost = Object.keys(more).filter((field) => names.includes(field) && !Object.hasOwn(expected, field))
  expect([...(notes.dropped ?? [])].sort()).toEqual(lost.sort())
})

it('settings of LangChain that ask for nothing are left out unnamed', async () => {
  for (const model of ['anthropic/claude-haiku-4-5', 'anthropic/claude-sonnet-5-5']) {
    const notes: Notes = { dropped: undefined }
    const unset = { temperature: 1, top_p: -1, top_k: -1 }
    const sent = await asked(messagesDialect, model, { model: 'm', messages, max_tokens: 9, ...unset }, notes)
    expect([sent.top_p, sent.top_k, notes.dropped]).toEqual([undefined, undefined, undefined])
  }
})

const budget = { type: 'enabled', budget_tokens: 8192 }
const adaptive = { type: 'adaptive', display: 'summarized' }

it.each([
  ['anthropic/claude-sonnet-5-5', { thinking: budget }, { thinking: adaptive, output_config: { effort: 'medium' } }],
  [
    'vertex/claude-opus-4-7',
    { thinking: { ...budget, display: 'omitted' }, output_config: { effort: 'low', task_budget: { total: 9 } } },
    {
      thinking: { ...adaptive, display: 'omitted' },
      output_config: { effort: 'low', task_budget: { total: 9 } },
    },
  ],
  ['anthropic/claude-sonnet-4-6', { thinking: budget }, { thinking: budget }],
  ['anthropic/minimax-m3', { thinking: budget }, { thinking: budget }],
])(
  '%s is told the effort of a budget that it refuses, by a client of Messages too: %j',
  async (model, more, expected) => {
    const { thinking, output_config } = await asked(messagesDialect, model, { model: 'm', messages, ...more })
    expect(JSON.parse(JSON.stringify({ thinking, output_config }))).toEqual(expected)
  },
)

const read = { name: 'read', input_schema: { type: 'object' } }
const words = (text: string) => ({ type: 'text', text })

it.each([
  ['anthropic/claude-sonnet-5-5', { type: 'tool', name: 'read', disable_parallel_tool_use: true }, 'read', {}],
  ['vertex/claude-fable-5-1', { type: 'any' }, 'a tool', {}],
  ['anthropic/claude-haiku-5-5', { type: 'any' }, undefined, {}],
  ['anthropic/claude-sonnet-4-6', { type: 'any' }, undefined, {}],
])('%s is asked in words for a call that it refuses to be made to, by a client of Messages too: %j', async (...row) => {
  const [model, tool_choice, name] = row
  const request = { model: 'm', messages, tools: [read], tool_choice }
  const sent = await asked(messagesDialect, model, request)
  const { name: _, ...choice } = tool_choice as { name?: string }
  const turns = [{ role: 'user', content: [words('Hi'), words(`Answer with a call of ${name}.`)] }]
  expect([sent.tool_choice, sent.messages, sent.thinking]).toEqual(
    name === undefined ? [tool_choice, messages, undefined] : [{ ...choice, type: 'auto' }, turns, undefined],
  )
})

it('what Claude has thought in a turn that was asked for in words is left out of the next one', async () => {
  const thought = { type: 'thinking', thinking: 'Hm', signature: 'EuYB' }
  const turns = [...messages, { role: 'assistant', content: [thought, words('Hi')] }, ...messages]
  const request = { model: 'm', messages: turns, tools: [read], tool_choice: { type: 'any' } }
  const { thinking } = await asked(messagesDialect, 'anthropic/claude-sonnet-5-5', request)
  expect(thinking).toEqual({ type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } })
})

const forced = { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' }
const unthought = { thinking: { type: 'disabled' } }

it.each([
  ['deepseek/deepseek-v4-pro', forced, unthought],
  ['deepseek/deepseek-v4-pro', { ...forced, thinking: { type: 'enabled' } }, { thinking: { type: 'enabled' } }],
  [
    'deepseek/deepseek-v4-pro',
    { ...forced, tool_choice: 'auto', reasoning_effort: 'max' },
    { reasoning_effort: 'max' },
  ],
  ['deepseek/deepseek-v4-pro', { reasoning_effort: 'none' }, unthought],
  ['moonshot/kimi-k2.6', { ...forced, reasoning_effort: 'high' }, unthought],
  ['moonshot/kimi-k3', forced, {}],
])('%s is told not to think where it is made to call, or asked so: %j', async (model, more, expected) => {
  const { thinking, reasoning_effort } = await asked(chatDialect, model, { model: 'm', messages, ...more })
  expect({ thinking, reasoning_effort }).toEqual(expected)
})

const schema = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } }
const json = { type: 'json_object' }

it.each([
  ['deepseek/deepseek-v4-pro', { response_format: schema }, json, 2],
  ['deepseek/deepseek-v4-pro', { response_format: json }, json, 1],
  ['groq/openai/gpt-oss-120b', { ...forced, response_format: schema }, undefined, 2],
  ['groq/openai/gpt-oss-120b', { ...forced, response_format: json }, undefined, 2],
  ['groq/openai/gpt-oss-120b', { response_format: schema }, schema, 1],
  ['lmstudio/m', { response_format: json }, undefined, 2],
  ['lmstudio/m', { ...forced, response_format: schema }, schema, 1],
])('%s is told in words of a format that it does not take: %j', async (model, more, format, turns) => {
  const sent = await asked(chatDialect, model, { model: 'm', messages, ...more })
  expect([sent.response_format, sent.messages.length]).toEqual([format, turns])
})

it('Kimi is told something in the place of reasoning, and the beginning of an answer even where it is empty', async () => {
  const said = { role: 'assistant', content: 'Hi.', reasoning_content: null }
  const silent = { role: 'assistant', content: '' }
  const turns = (last: object) => ({ model: 'm', messages: [...messages, said, silent, ...messages, last] })
  const [begun, question] = [
    { ...silent, partial: true },
    { role: 'user', content: 'Hi' },
  ]
  const told = async (last: object) => (await asked(chatDialect, 'moonshot/kimi-k3', turns(last))).messages
  const hi = { role: 'assistant', content: 'Hi.', reasoning_content: ' ' }
  expect(await told(question)).toEqual([...messages, hi, ...messages, question])
  expect((await told(begun)).at(-1)).toEqual({ ...begun, reasoning_content: ' ' })
})

const text = (...texts: string[]) => texts.map((one) => ({ type: 'text', text: one }))
const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

it.each([1, 70_000])('some are told text as a string, behind a message of %i characters', async (length) => {
  const { tool_calls } = answer
  const turns = [
    { role: 'user', content: 'x'.repeat(length) },
    { role: 'user', content: text('One.', 'Two.') },
    { role: 'assistant', tool_calls },
    { role: 'tool', tool_call_id: 'call_1234', content: text('It is empty.') },
    { role: 'assistant', content: text('It is', ' emp', 'ty.') },
    { role: 'user', content: [...text('And this?'), picture] },
  ]
  const padding = { metadata: { note: 'x'.repeat(length) } }
  for (const model of ['cloudflare/m', 'deepinfra/m', 'nvidia/m', 'ollama/m', 'together/m', 'xai/grok-4.6']) {
    const told = async (messages: object[]) => {
      const bytes = new TextEncoder().encode(JSON.stringify({ model: 'm', messages, ...padding }))
      return (await asked(chatDialect, model, parseLazily(bytes) as object)).messages
    }
    const contents = (await told(turns)).slice(1).map(({ content }: { content: unknown }) => content)
    expect(contents).toEqual(['One.\n\nTwo.', '', 'It is empty.', 'It is empty.', turns.at(-1)?.content])
    const silent = { role: 'assistant', content: null, tool_calls }
    expect((await told([...turns.slice(0, 1), silent, result]))[1].content).toBe('')
  }
})

const called = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })
const strict = { parameters: { type: 'object', properties: {} }, strict: true }

it('Cerebras is told of no strict function beside others', async () => {
  const told = async (tools: object[]) => {
    const sent = await asked(chatDialect, 'cerebras/m', { model: 'm', messages, tools })
    return sent.tools.map(({ function: one }: { function: { strict?: boolean } }) => one.strict)
  }
  expect(await told([called('a', strict), called('b')])).toEqual([false, undefined])
  expect(await told([called('a', strict), called('b', strict)])).toEqual([true, true])
})

it('LM Studio is told the properties of a function, and one function that has to be called by offering it alone', async () => {
  const tools = [called('a', { parameters: {} }), called('b', { parameters: { type: 'object' } })]
  const choice = { type: 'function', function: { name: 'b' } }
  const body = { model: 'm', messages, tools, tool_choice: choice }
  const sent = await asked(chatDialect, 'lmstudio/m', body)
  const parameters = { type: 'object', properties: {} }
  expect([sent.tools, sent.tool_choice]).toEqual([[called('b', { parameters })], 'required'])
  const all = await asked(chatDialect, 'lmstudio/m', { model: 'm', messages, tools })
  expect(all.tools).toEqual([called('a', { parameters }), called('b', { parameters })])
})

it.each([
  ['xhigh', 'max'],
  ['minimal', 'low'],
  ['none', 'none'],
])('Ollama is told the effort %s as %s', async (effort, expected) => {
  const sent = await asked(chatDialect, 'ollama/gpt-oss', { model: 'm', messages, reasoning_effort: effort })
  expect(sent.reasoning_effort).toBe(expected)
})

it('xAI is told nothing of penalties, which it refuses even where they are none', async () => {
  const told = async (presence_penalty: number) =>
    (await asked(chatDialect, 'xai/grok-4.6', { model: 'm', messages, presence_penalty })).presence_penalty
  expect([await told(0), await told(0.5)]).toEqual([undefined, undefined])
})

it('NVIDIA is told nothing of settings that ask for nothing, which some of its models refuse', async () => {
  const told = async (more: object) => {
    const sent = await asked(chatDialect, 'nvidia/m', { model: 'm', messages, ...more })
    return [sent.n, sent.frequency_penalty, sent.presence_penalty]
  }
  expect(await told({ n: 1, frequency_penalty: 0, presence_penalty: 0 })).toEqual([undefined, undefined, undefined])
  expect(await told({ n: 2, frequency_penalty: 0.5, presence_penalty: 0 })).toEqual([2, 0.5, undefined])
})

it('a question that is an instruction is asked by the user where a template wants one', async () => {
  const only = { model: 'm', max_tokens: 9, system: 'Be brief.', messages: [{ role: 'system', content: 'Say hello.' }] }
  const sent = await asked(messagesDialect, 'vllm/m', only)
  expect(sent.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Say hello.' },
  ])
})

it('Mistral is told nothing of a message in its parts, where some clients copy it', async () => {
  const { tool_calls, content: _, prefix: _prefix, ...rest } = answer
  const part = { ...rest, type: 'text', text: 'I look.', refusal: null, annotations: [] }
  const turns = [...messages, { role: 'assistant', content: [part], tool_calls }, result]
  const sent = await asked(chatDialect, 'mistral/m', { model: 'm', messages: turns })
  expect(sent.messages[1].content).toEqual([{ type: 'text', text: 'I look.' }])
})

it('Mistral is told the names of participants in their texts', async () => {
  const named = [
    { role: 'user', name: 'Ada', content: 'Hi' },
    { role: 'assistant', name: 'model', content: 'Hi.' },
  ]
  const sent = await asked(chatDialect, 'mistral/m', { model: 'm', messages: [...named, ...messages] })
  expect(sent.messages.slice(0, 2)).toEqual([
    { role: 'user', content: 'Ada: Hi' },
    { role: 'assistant', content: 'Hi.' },
  ])
})

it('Mistral is told documents of chat by addresses, and its own as they are', async () => {
  const pdf = 'data:application/pdf;base64,JVBERi0='
  const content = [
    { type: 'file', file: { file_data: pdf, filename: 'a.pdf' } },
    { type: 'file', file_id: 'file-1' },
  ]
  const sent = await asked(chatDialect, 'mistral/m', { model: 'm', messages: [{ role: 'user', content }] })
  expect(sent.messages[0].content).toEqual([
    { type: 'document_url', document_url: pdf, document_name: 'a.pdf' },
    { type: 'file', file_id: 'file-1' },
  ])
})

it.each([1, 70_000])('OpenAI is told ids of calls that it takes, behind a message of %i characters', async (length) => {
  const id = `chatcmpl-tool-${'7'.repeat(32)}`
  const call = { id, type: 'function', function: { name: 'read', arguments: '{}' } }
  const turns = [
    { role: 'user', content: 'x'.repeat(length) },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: id, content: 'It is empty.' },
  ]
  const padding = { metadata: { note: 'x'.repeat(length) } }
  const bytes = new TextEncoder().encode(JSON.stringify({ model: 'm', messages: turns, ...padding }))
  const sent = await asked(chatDialect, 'openai/gpt-5', parseLazily(bytes) as object)
  const fitting = sent.messages[2].tool_call_id
  expect(fitting).toMatch(/^\w{1,40}$/)
  expect(sent.messages[1].tool_calls[0]).toEqual({ ...call, id: fitting })
})

it('Mistral is told the parameters of a function that has none', async () => {
  const tools = [{ type: 'function', function: { name: 'list' } }]
  const sent = await asked(chatDialect, 'mistral/m', { model: 'm', messages, tools })
  expect(sent.tools[0].function).toEqual({ name: 'list', parameters: { type: 'object', properties: {} } })
})

it('instructions behind the turn of the user are at the beginning where a template wants them there', async () => {
  const turns = [...messages, { role: 'system', content: 'Be brief.' }]
  const body = { model: 'm', max_tokens: 9, messages: turns }
  for (const [model, roles] of [
    ['openai/gpt-5', ['user', 'system']],
    ['mistral/m', ['system', 'user']],
    ['openai-compatible/m', ['system', 'user']],
    ['cohere/command-a', ['system', 'user']],
  ] as const) {
    const sent = await asked(messagesDialect, model, body)
    expect(sent.messages.map(({ role }: { role: string }) => role)).toEqual(roles)
  }
})

it('neighbouring turns of the model are one for Gemini, which wants calls right behind a turn of the user', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'list', arguments: '{}' } }
  const turns = [
    ...messages,
    { role: 'assistant', content: 'I look.' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: 'none' },
  ]
  const sent = await asked(chatDialect, 'gemini/gemini-3-pro', { model: 'm', messages: turns })
  expect(sent.contents.map(({ role, parts }: { role: string; parts: [] }) => [role, parts.length])).toEqual([
    ['user', 1],
    ['model', 2],
    ['user', 1],
  ])
})

it.each([
  {
    object: 'error',
    message: { detail: [{ type: 'missing', loc: ['body', 'tools', 2, 'name'], msg: 'Field required' }] },
  },
  { detail: [{ type: 'missing', loc: ['body', 'tools', 2, 'name'], msg: 'Field required' }] },
])('a field that a server in Python refuses is named: %j', (body) => {
  const { failure, message, details } = openaiFailure(422, {}, new TextEncoder().encode(JSON.stringify(body)), 0)
  expect([failure, message, details.param]).toEqual([
    'upstream_rejected',
    'tools.2.name: Field required',
    'tools.2.name',
  ])
})

it('a body that a server in Python refuses as a whole names no field', () => {
  const body = JSON.stringify({ detail: [{ type: 'missing', loc: ['body'], msg: 'Field required' }] })
  const { message, details } = openaiFailure(422, {}, new TextEncoder().encode(body), 0)
  expect([message, details.param]).toEqual(['Field required', undefined])
})
