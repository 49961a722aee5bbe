import { describe, expect, it } from 'vitest'
import { geminiDialect } from '../../../src/api/dialects/gemini.ts'
import type { ChatChunk, ChatCompletion } from '../../../src/modes/chat-completion.ts'
import type { ModelRequest } from '../../../src/modes/mode.ts'
import { type Json, joined } from './gemini-parts.ts'

const hello = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const asRequest = (request: Json) => ({ model: 'm', contents: hello, ...request }) as unknown as ModelRequest
const call = (id: string, name: string, args = '{}') => ({ id, type: 'function', function: { name, arguments: args } })

const shown = { generationConfig: { thinkingConfig: { includeThoughts: true } } }
const picture = (url: string) => ({ images: [{ type: 'image_url', image_url: { url } }] })
const functionCall = (id: unknown, name: string, args: object = {}) => ({ functionCall: { id, name, args } })
const sealed = expect.stringMatching(/^dGhpbmtpbmc6[A-Za-z0-9+/]+=*$/)

type Row = readonly [what: string, message: Json, end: string, parts: readonly Json[], reason: string, request: Json]
type GivenRow = readonly [...Row] | readonly [Row[0], Row[1], Row[2], Row[3], Row[4]]
const asRows = (rows: readonly GivenRow[]): Row[] =>
  rows.map(([a, b, c, d, e, request = {}]) => [a, b, c, d, e, request])

/** A message of chat and its end; the parts of the candidate and its reason, for a client that sent this. */
const ANSWERS = asRows([
  ['a text', { content: 'Grüße 🙂' }, 'stop', [{ text: 'Grüße 🙂' }], 'STOP'],
  ['nothing', { content: null }, 'stop', [{ text: '' }], 'STOP'],
  ['a cut text', { content: 'Hel' }, 'length', [{ text: 'Hel' }], 'MAX_TOKENS'],
  ['a filtered text', { content: 'Hel' }, 'content_filter', [{ text: 'Hel' }], 'SAFETY'],
  ['a refusal', { content: null, refusal: 'No.' }, 'stop', [{ text: 'No.' }], 'SAFETY'],
  ['an end of a name of its own', { content: 'Hi' }, 'eos', [{ text: 'Hi' }], 'STOP'],
  ['hidden thoughts', { content: 'Hi', reasoning_content: 'Hm.' }, 'stop', [{ text: 'Hi' }], 'STOP'],
  [
    'thoughts',
    { content: 'Hi', reasoning: 'Hm.' },
    'stop',
    [{ text: 'Hm.', thought: true }, { text: 'Hi' }],
    'STOP',
    shown,
  ],
  [
    'thoughts that Gemini signed',
    { content: 'Hi', thinking_blocks: [{ type: 'thinking', thinking: '', signature: 'gemini:AbC=' }] },
    'stop',
    [{ text: 'Hi', thoughtSignature: 'AbC=' }],
    'STOP',
  ],
  [
    'calls beside text, with the thoughts of another vendor on the first of them',
    {
      content: 'Wait.',
      tool_calls: [call('a', 'f', '{"x":1}'), call('b', 'g', '')],
      thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'sig' }],
    },
    'tool_calls',
    [{ text: 'Wait.' }, { ...functionCall('a', 'f', { x: 1 }), thoughtSignature: sealed }, functionCall('b', 'g')],
    'STOP',
  ],
  [
    'a call without an id',
    { content: null, tool_calls: [{ type: 'function', function: { name: 'f', arguments: '{}' } }] },
    'tool_calls',
    [{ ...functionCall(expect.stringMatching(/^call_/), 'f'), thoughtSignature: sealed }],
    'STOP',
  ],
  [
    'a cut call',
    { content: null, tool_calls: [call('a', 'f'), call('b', 'g', '{"x":')] },
    'length',
    [{ ...functionCall('a', 'f'), thoughtSignature: sealed }],
    'MAX_TOKENS',
  ],
  [
    'a picture',
    { content: null, ...picture('data:image/png;base64,AA==') },
    'stop',
    [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }],
    'STOP',
  ],
  [
    'a picture by its address',
    { content: 'Here.', ...picture('https://a.example/b.png') },
    'stop',
    [{ text: 'Here.' }, { fileData: { mimeType: 'image/png', fileUri: 'https://a.example/b.png' } }],
    'STOP',
  ],
])

const head = { id: 'chatcmpl-1', created: 0, model: 'served' }
const usage = {
  ...{ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 },
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 3 },
}
const usageMetadata = {
  ...{ promptTokenCount: 10, candidatesTokenCount: 4, totalTokenCount: 17 },
  ...{ thoughtsTokenCount: 3, cachedContentTokenCount: 4 },
}

function fromChat(choices: readonly object[], request: Json = {}, more: object = { usage }): object {
  const completion = { ...head, object: 'chat.completion', choices, ...more } as unknown as ChatCompletion
  return geminiDialect.fromChat(completion, asRequest(request))
}

/** The events that a client reads of these chunks. */
function eventsOf(chunks: readonly object[], request: Json = {}): { candidates: Json[]; usageMetadata?: object }[] {
  const words = geminiDialect.stream(asRequest({ ...request, stream: true }))
  const written = chunks.map((chunk) =>
    words.write({ ...head, object: 'chat.completion.chunk', ...chunk } as ChatChunk),
  )
  const text = [...written, words.close()].map((bytes) => new TextDecoder().decode(bytes)).join('')
  expect(text).toMatch(/^(data: [^\r\n]+\r\n\r\n)+$/)
  return text
    .trim()
    .split('\r\n\r\n')
    .map((event) => JSON.parse(event.slice(6)))
}

/** The same answer streamed: its text and its thoughts letter by letter, the arguments of its calls in two pieces. */
function streamed({ content, reasoning, tool_calls, ...others }: Json, finish_reason: string): object[] {
  const letters = (text: unknown) => [...((text as string | null | undefined) ?? '')]
  const calls = (tool_calls ?? []) as { function: { name: string; arguments: string } }[]
  const deltas = [
    { role: 'assistant', content: '' },
    ...letters(reasoning).map((letter) => ({ reasoning: letter })),
    ...letters(content).map((letter) => ({ content: letter })),
    ...(Object.keys(others).length > 0 ? [others] : []),
    ...calls.map(({ function: called, ...one }, index) => ({
      tool_calls: [{ ...one, index, function: { ...called, arguments: called.arguments.slice(0, 2) } }],
    })),
    ...calls.map(({ function: called }, index) => ({
      tool_calls: [{ index, function: { arguments: called.arguments.slice(2) } }],
    })),
  ]
  return [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason }] },
    { choices: [], usage },
  ]
}

describe('a chat completion as an answer of generateContent', () => {
  it.each(ANSWERS)('says %s', (_, message, finish_reason, parts, finishReason, request) => {
    expect(fromChat([{ index: 0, message: { role: 'assistant', ...message }, finish_reason }], request)).toEqual({
      candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
      usageMetadata,
      modelVersion: 'served',
      responseId: 'chatcmpl-1',
    })
  })

  it.each(ANSWERS)('says %s, streamed', (_, message, finish, parts, finishReason, request) => {
    const events = eventsOf(streamed(message, finish), request)
    const candidates = events.map(({ candidates: [candidate] }) => candidate as Json & { content: { parts: Json[] } })
    expect(joined(candidates.flatMap(({ content }) => content.parts))).toEqual(joined(parts))
    expect(candidates.map((candidate) => candidate.finishReason).filter(Boolean)).toEqual([finishReason])
    expect(events.at(-1)).toMatchObject({ candidates: [{ finishReason }], usageMetadata })
    // BAML's client skips events without it.
    expect(events.every((event) => event.usageMetadata !== undefined)).toBe(true)
    const signatures = (list: readonly Json[]) => list.filter(({ thoughtSignature }) => thoughtSignature !== undefined)
    expect(signatures(candidates.flatMap(({ content }) => content.parts))).toHaveLength(signatures(parts).length)
  })

  it('has a candidate for each choice, whole and streamed', () => {
    const choices = [0, 1].map((index) => ({ index, message: { content: `${index}` }, finish_reason: 'stop' }))
    const whole = fromChat(choices) as { candidates: Json[] }
    expect(whole.candidates).toMatchObject([
      { index: 0, content: { parts: [{ text: '0' }] } },
      { index: 1, content: { parts: [{ text: '1' }] } },
    ])
    const events = eventsOf([
      ...choices.map(({ index, message }) => ({ choices: [{ index, delta: message, finish_reason: null }] })),
      ...choices.map(({ index }) => ({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })),
    ])
    expect(events.slice(0, 2).map(({ candidates }) => candidates[0]?.index)).toEqual([0, 1])
    expect(events.at(-1)?.candidates.map(({ index, finishReason }) => [index, finishReason])).toEqual([
      [0, 'STOP'],
      [1, 'STOP'],
    ])
  })

  it('tells how probable its words were', () => {
    const logprobs = { content: [{ token: 'Hi', logprob: -0.1, top_logprobs: [{ token: 'Ho', logprob: -2 }] }] }
    expect(fromChat([{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop', logprobs }])).toMatchObject({
      candidates: [
        {
          logprobsResult: {
            chosenCandidates: [{ token: 'Hi', logProbability: -0.1 }],
            topCandidates: [{ candidates: [{ token: 'Ho', logProbability: -2 }] }],
          },
        },
      ],
    })
  })

  it('counts nothing where its provider did not', () => {
    const counts = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 }
    const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }]
    expect(fromChat(choices, {}, {})).toMatchObject({ usageMetadata: counts })
    expect(eventsOf([]).at(-1)).toMatchObject({
      candidates: [{ content: { parts: [{ text: '' }] } }],
      usageMetadata: counts,
    })
  })

  it('is none where a client would run a broken call, or where there is no choice', () => {
    const broken = { content: null, tool_calls: [call('a', 'f', '[1]')] }
    expect(() => fromChat([{ index: 0, message: broken, finish_reason: 'tool_calls' }])).toThrow(/not JSON/)
    expect(eventsOf(streamed(broken, 'tool_calls')).at(-1)?.candidates).toMatchObject([
      { finishReason: 'MALFORMED_FUNCTION_CALL', content: { parts: [{ text: '' }] } },
    ])
    expect(() => fromChat([])).toThrow(/no choice/)
  })
})
