import { describe, expect, it } from 'vitest'
import { recording } from '../../../src/telemetry/content/recording.ts'

const RULES = { maxBytes: 8192, redact: [/canary-\w+/gu] }
const bytes = (text: string) => new TextEncoder().encode(text)
const sse = (events: readonly unknown[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

/** What is logged of a stream that comes in pieces of so many bytes. */
function streamed(text: string, size = 7): unknown {
  const room = { left: 1_000_000 }
  const made = recording(RULES, room)
  const all = bytes(text)
  for (let at = 0; at < all.byteLength; at += size) made.piece(all.subarray(at, at + size))
  const content = made.end({})
  expect(room.left).toBe(1_000_000)
  return JSON.parse(content?.answer ?? 'null')
}

describe('the content of an answer', () => {
  it('is joined from the chunks of chat, so that no pattern is missed that two of them share', () => {
    const chunk = (delta: object, rest: object = {}) => ({
      id: 'c1',
      object: 'chat.completion.chunk',
      model: 'm',
      choices: [{ index: 0, delta, ...rest }],
    })
    const call = (index: number, part: object) => ({ tool_calls: [{ index, ...part }] })
    const text = `${sse([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Grüße can' }),
      chunk({ content: 'ary-7 end' }),
      chunk(call(0, { id: 'call_a', type: 'function', function: { name: 'look', arguments: '' } })),
      chunk(call(0, { function: { arguments: '{"q":' } })),
      chunk(call(1, { id: 'call_b', type: 'function', function: { name: 'find', arguments: '{}' } })),
      chunk(call(0, { function: { arguments: '1}' } })),
      chunk({}, { finish_reason: 'tool_calls' }),
      { id: 'c1', object: 'chat.completion.chunk', choices: [], usage: { total_tokens: 9 } },
    ])}data: [DONE]\n\n`
    for (const size of [1, 7, 100_000]) {
      expect(streamed(text, size)).toEqual({
        id: 'c1',
        model: 'm',
        usage: { total_tokens: 9 },
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: 'Grüße [redacted] end',
              tool_calls: [
                { index: 0, id: 'call_a', type: 'function', function: { name: 'look', arguments: '{"q":1}' } },
                { index: 1, id: 'call_b', type: 'function', function: { name: 'find', arguments: '{}' } },
              ],
            },
          },
        ],
      })
    }
  })

  it('is joined from the events of messages', () => {
    const text = [
      ['message_start', { message: { id: 'msg_1', role: 'assistant', content: [], model: 'c' } }],
      ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
      ['ping', {}],
      ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hel' } }],
      ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'lo' } }],
      ['content_block_start', { index: 1, content_block: { type: 'tool_use', id: 't', name: 'look', input: {} } }],
      ['content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":' } }],
      ['content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: '2}' } }],
      ['message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } }],
      ['message_stop', {}],
    ]
      .map(([type, rest]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...(rest as object) })}\n\n`)
      .join('')
    expect(streamed(text)).toEqual({
      id: 'msg_1',
      role: 'assistant',
      model: 'c',
      stop_reason: 'tool_use',
      usage: { output_tokens: 3 },
      content: [
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 't', name: 'look', input: {}, partial_json: '{"a":2}' },
      ],
    })
  })

  it('is the whole of the last event of responses, or what came before a break', () => {
    const delta = (text: string) => ({ type: 'response.output_text.delta', delta: text })
    const begun = { type: 'response.created', response: { id: 'resp_1' } }
    const whole = { type: 'response.completed', response: { id: 'resp_1', output: [{ type: 'message' }] } }
    expect(streamed(sse([begun, delta('a'), whole]))).toEqual({ id: 'resp_1', output: [{ type: 'message' }] })
    expect(streamed(sse([begun, delta('a'), delta('b')]))).toEqual({
      object: 'response',
      output: [],
      output_text: 'ab',
    })
  })

  it('of an unknown form is its size alone', () => {
    expect(streamed('canary-binary'.repeat(10))).toBe('[a stream of 130 bytes]')
  })

  it.each([
    ['application/json; charset=utf-8', '{"a":"canary-1"}', { a: '[redacted]' }],
    ['application/json', '{"a":', '[5 bytes that are no JSON]'],
    ['text/plain', 'said canary-2', 'said [redacted]'],
    [
      'audio/mpeg',
      'abc',
      '[audio/mpeg, 3 bytes, sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad]',
    ],
  ])('in one of %s is logged by its type', (type, text, expected) => {
    const made = recording(RULES, { left: 0 })
    made.whole(bytes(text), type)
    expect(JSON.parse(made.end({ m: 'canary-3' })?.answer ?? '')).toEqual(expected)
  })
})

describe('the memory of recordings', () => {
  it('is bounded over all calls, and given back', () => {
    const room = { left: 300_000 }
    const calls = Array.from({ length: 5 }, () => recording(RULES, room))
    for (const one of calls) one.piece(new Uint8Array(100_000))
    expect(room.left).toBe(0)
    const left = calls.map((one) => JSON.parse(one.end({})?.answer ?? ''))
    expect(left.slice(0, 3)).toEqual(Array(3).fill('[a stream of 100000 bytes]'))
    expect(left.slice(3)).toEqual(Array(2).fill({ answer: '[a stream of 100000 bytes]', omitted_bytes: 100_000 }))
    expect(room.left).toBe(300_000)
  })

  it('of one stream is bounded too, which is logged as far as it was remembered', () => {
    const room = { left: 100_000_000 }
    const made = recording(RULES, room)
    made.piece(bytes(sse([{ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'begun' } }] }])))
    for (let piece = 0; piece < 100; piece++) made.piece(new Uint8Array(100_000).fill(10))
    expect(100_000_000 - room.left).toBeLessThanOrEqual(1024 * 1024)
    expect(JSON.parse(made.end({})?.answer ?? '')).toEqual({
      answer: { choices: [{ index: 0, message: { content: 'begun' } }] },
      omitted_bytes: 9_000_000,
    })
  })

  it('keeps a copy of a long answer, whose bytes the runtime frees', () => {
    const room = { left: 1_000_000 }
    const made = recording(RULES, room)
    const own = bytes(JSON.stringify({ text: 'x '.repeat(50_000) }))
    made.whole(own, 'application/json')
    own.fill(0)
    expect(made.end({})?.answer).toContain('x x x')
    expect(room.left).toBe(1_000_000)
  })
})
