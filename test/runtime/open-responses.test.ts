import { describe, expect, inject, it } from 'vitest'
import { configuration } from '../support/configuration.ts'
import { chatInit } from '../support/gateway.ts'
import { type ResponseEvent, responseEvent, responseObject } from '../support/open-responses.ts'
import { readStream } from '../support/sse.ts'
import { answer, cutAfter, frames, json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

/** @see https://www.openresponses.org/compliance */
const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/open-${run}-${name}`

const KINDS = { chat: 'openai-compatible', claude: 'anthropic', gemini: 'gemini' } as const
type Kind = keyof typeof KINDS

const gateway = withGateway(() =>
  configuration({
    router_settings: { cooldown_time: 0 },
    model_list: Object.entries(KINDS).map(([name, kind]) => ({
      model_name: name,
      deployment_id: name,
      gateway_params: { model: `${kind}/there`, api_base: upstream.url + path(name), api_key: 'sk-canary-31' },
    })),
  }),
)

const words = 'Ahoy, it is sunny.'
const call = { id: 'call_1', name: 'get_weather', arguments: '{"location":"Zürich"}' }
const said = (says: 'text' | 'tool') => (says === 'text' ? { text: words } : { toolCalls: [call] })

/** Each answer in the vendor's shape, whole and streamed. */
const claudeBlock = { type: 'tool_use', id: call.id, name: call.name, input: { location: 'Zürich' } }
const claude = (stop_reason: string, content: object[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'there',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 5 },
})
const event = (data: { readonly type: string; readonly [member: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const claudeStream = (stop_reason: string, block: object, deltas: readonly object[]) =>
  frames([
    event({ type: 'message_start', message: { ...claude('', []), stop_reason: null } }),
    event({ type: 'content_block_start', index: 0, content_block: block }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index: 0, delta })),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 5 } }),
    event({ type: 'message_stop' }),
  ])
const gemini = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason ? { finishReason } : {}) }],
  responseId: 'r',
  modelVersion: 'there',
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 },
})
const geminiCall = { functionCall: { name: call.name, args: { location: 'Zürich' } } }

const halves = [words.slice(0, 5), words.slice(5)]
const script = (kind: Kind, says: 'text' | 'tool', streamed: boolean, cut = false) => {
  if (kind === 'chat') return answer({ ...said(says), ...(cut ? { finishReason: 'length' } : {}) })
  if (kind === 'claude') {
    const stop = cut ? 'max_tokens' : says === 'text' ? 'end_turn' : 'tool_use'
    if (!streamed) return json(200, claude(stop, says === 'text' ? [{ type: 'text', text: words }] : [claudeBlock]))
    return says === 'text'
      ? claudeStream(
          stop,
          { type: 'text', text: '' },
          halves.map((text) => ({ type: 'text_delta', text })),
        )
      : claudeStream(stop, { ...claudeBlock, input: {} }, [
          { type: 'input_json_delta', partial_json: '{"location":' },
          { type: 'input_json_delta', partial_json: '"Zürich"}' },
        ])
  }
  const end = cut ? 'MAX_TOKENS' : 'STOP'
  if (!streamed) return json(200, gemini(says === 'text' ? [{ text: words }] : [geminiCall], end))
  const parts = says === 'text' ? halves.map((text) => ({ text })) : [geminiCall]
  const events = parts.map((one, at) => gemini([one], at === parts.length - 1 ? end : undefined))
  return frames(events.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`))
}

const message = (role: string, content: unknown, more: object = {}) => ({ type: 'message', role, content, ...more })
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a place',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
}
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The kinds of requests that the public suite makes. */
const CASES: Readonly<Record<string, { readonly says: 'text' | 'tool'; readonly body: object }>> = {
  'a text': { says: 'text', body: { input: [message('user', 'Say hello.')] } },
  'a system prompt': { says: 'text', body: { input: [message('system', 'Be a pirate.'), message('user', 'Hello')] } },
  'phases of an assistant': {
    says: 'text',
    body: {
      input: [
        message('assistant', 'Looking.', { phase: 'commentary' }),
        message('assistant', 'Four.', { phase: 'final_answer' }),
        message('user', 'Repeat.'),
      ],
    },
  },
  'a tool': { says: 'tool', body: { input: [message('user', 'The weather?')], tools: [weather] } },
  'a tool without words': {
    says: 'tool',
    body: { input: 'The weather?', tools: [{ type: 'function', name: 'get_weather' }], tool_choice: 'required' },
  },
  'an image': {
    says: 'text',
    body: {
      input: [
        message('user', [
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: PIXEL },
        ]),
      ],
    },
  },
  'a file': {
    says: 'text',
    body: {
      input: [
        message('user', [
          { type: 'input_text', text: 'What is its title?' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjE=' },
        ]),
      ],
    },
  },
  'a function that has to be called': {
    says: 'tool',
    body: { input: 'The weather?', tools: [weather], tool_choice: { type: 'function', name: 'get_weather' } },
  },
  'a history': {
    says: 'text',
    body: { input: [message('user', 'I am Ada.'), message('assistant', 'Hi Ada.'), message('user', 'Who am I?')] },
  },
  'a format': {
    says: 'text',
    body: {
      input: 'Hi',
      text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } }, verbosity: null },
    },
  },
}

const respond = (body: object) => gateway.fetch('/v1/responses', chatInit(body))
async function streamed(body: object): Promise<ResponseEvent[]> {
  const { events } = await readStream(await respond({ ...body, stream: true }))
  const read = events.map(({ event: name, data }) => {
    const parsed = responseEvent.parse(JSON.parse(data))
    expect(parsed.type).toBe(name)
    return parsed
  })
  expect(read.map(({ sequence_number }) => sequence_number)).toEqual(read.map((_, index) => index))
  return read
}

/** What the events say bit by bit, as the response that they end with says it. */
function sumOf(events: readonly ResponseEvent[]): object[] {
  const sums = new Map<number, { id: string; text: string }>()
  for (const one of events) {
    if (one.type === 'response.output_item.added') sums.set(one.output_index, { id: one.item.id, text: '' })
    if (!one.type.endsWith('.delta')) continue
    const { output_index, item_id, delta } = one as unknown as { output_index: number; item_id: string; delta: string }
    const sum = sums.get(output_index)
    expect(sum?.id).toBe(item_id)
    if (sum) sum.text += delta
  }
  return [...sums.values()]
}
const wordsOf = (output: readonly ResponseItem[]) =>
  output.map((one) => ({
    id: one.id,
    text:
      one.type === 'function_call'
        ? one.arguments
        : (one.type === 'message' ? one.content : one.summary).map((each) => String(each.text ?? '')).join(''),
  }))
type ResponseItem = ReturnType<typeof responseObject.parse>['output'][number]

describe.each(Object.keys(KINDS) as Kind[])('Open Responses at %s', (kind) => {
  it.each(Object.entries(CASES))('answers %s, whole and streamed, as published', async (_name, { says, body }) => {
    await upstream.script(path(kind), [script(kind, says, false)])
    const whole = responseObject.parse(await (await respond({ model: kind, ...body })).json())
    expect(whole.status).toBe('completed')
    expect(whole.output.at(-1)?.type).toBe(says === 'text' ? 'message' : 'function_call')

    await upstream.script(path(kind), [script(kind, says, true)])
    const events = await streamed({ model: kind, ...body })
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
    const last = events.at(-1)
    if (last?.type !== 'response.completed') throw new Error(`ended with ${last?.type}`)
    expect(wordsOf(last.response.output)).toEqual(sumOf(events))
    const done = events.flatMap((one) => (one.type === 'response.output_item.done' ? [one.item] : []))
    expect(last.response.output).toEqual(done)
    const wordless = ({ output }: { output: readonly ResponseItem[] }) =>
      wordsOf(output).map(({ text }) => JSON.stringify(text).replace(/\s/g, ''))
    expect(wordless(last.response)).toEqual(wordless(whole))
  })

  it('takes the result of a call that it made, by its input or by the id of its answer', async () => {
    await upstream.script(path(kind), [script(kind, 'tool', false)])
    const asked = { model: kind, input: 'The weather?', tools: [weather] }
    const first = responseObject.parse(await (await respond(asked)).json())
    const [called] = first.output.filter((one) => one.type === 'function_call')
    const result = { type: 'function_call_output', call_id: called?.call_id, output: '{"sunny":true}' }
    const turns = [
      { input: [message('user', 'The weather?'), ...first.output, result] },
      { previous_response_id: first.id, input: [result] },
    ]
    for (const turn of turns) {
      await upstream.script(path(kind), [script(kind, 'text', false)])
      const second = responseObject.parse(await (await respond({ ...asked, ...turn })).json())
      expect(second).toMatchObject({ status: 'completed', previous_response_id: turn.previous_response_id ?? null })
      expect(wordsOf(second.output)).toMatchObject([{ text: words }])
      const told = new TextDecoder().decode((await upstream.calls(path(kind))).at(-1)?.body)
      expect(told).toContain('get_weather')
      expect(told).toMatch(/sunny/)
    }
  })

  it('ends an answer that reached its limit as incomplete', async () => {
    await upstream.script(path(kind), [script(kind, 'text', false, true)])
    const whole = responseObject.parse(await (await respond({ model: kind, input: 'Hi' })).json())
    expect(whole).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    await upstream.script(path(kind), [script(kind, 'text', true, true)])
    expect((await streamed({ model: kind, input: 'Hi' })).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', completed_at: null },
    })
  })

  it('ends a stream that breaks off as failed', async () => {
    const cut = cutAfter({ frames: { chat: 3, claude: 3, gemini: 1 }[kind] })
    await upstream.script(path(kind), [{ ...script(kind, 'text', true), changes: [cut] }])
    const events = await streamed({ model: kind, input: 'Hi' })
    expect(events.slice(-2)).toMatchObject([
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } },
      { type: 'error', error: { type: 'api_error' } },
    ])
  })
})
