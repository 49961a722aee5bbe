import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openaiChatStream } from '../../../src/providers/openai/chat-stream.ts'
import type { StreamStep } from '../../../src/providers/provider.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const frameOf = (chunk: unknown) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`

const envelope = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt' }
const chunkOf = (delta: object, more: object = {}, finish_reason: string | null = null) => ({
  ...envelope,
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  ...more,
})

const words = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 8 }) },
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('', '"', '\\', '\\"', '"}}]}', '"content":"', '\n\n', 'é😀', '\u0000'),
)
const chunks = fc.oneof(
  { weight: 8, arbitrary: words.map((content) => chunkOf({ content })) },
  { weight: 3, arbitrary: words.map((content) => chunkOf({ role: 'assistant', content })) },
  fc.tuple(words, words).map(([content, obfuscation]) => chunkOf({ content }, { usage: null, obfuscation })),
  fc.tuple(words, words).map(([content, obfuscation]) => chunkOf({ content, obfuscation })),
  words.map((reasoning_content) => chunkOf({ content: null, reasoning_content })),
  words.map((content) => chunkOf({ content }, {}, 'stop')),
  words.map((content) => chunkOf({ content }, { usage: { prompt_tokens: 3, completion_tokens: 4 } })),
  words.map((content) => chunkOf({ content }, { model: content })),
  words.map((content) => ({ ...chunkOf({ content }), choices: [] })),
  words.map((text) => chunkOf({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
  fc.constantFrom('[DONE]', '{"choices":[{"index":0,"delta":{"content":"a"b"}}]}', 'no json', '"text"'),
  words.map((message) => ({ error: { message } })),
)

/** What steps mean for a call, whatever they are cut into. */
function meaningOf(steps: readonly StreamStep[]) {
  return {
    out: steps.map(({ out }) => (out ? decoder.decode(out) : '')).join(''),
    characters: steps.reduce((sum, step) => sum + (step.characters ?? 0), 0),
    told: steps.flatMap(({ out, characters, ...told }) => (Object.keys(told).length > 0 ? told : [])),
  }
}

describe('openaiChatStream', () => {
  it('means the same whether chunks are known by those before them or read one by one', () => {
    fc.assert(
      fc.property(fc.array(chunks, { maxLength: 40 }), fc.array(fc.nat(400)), (list, cuts) => {
        const frames = list.map(frameOf)
        const alone = frames.flatMap((frame) => openaiChatStream({ hideUsage: true }).push(encoder.encode(frame)))
        const bytes = encoder.encode(frames.join(''))
        const reader = openaiChatStream({ hideUsage: true })
        const along: StreamStep[] = []
        let at = 0
        for (const length of [...cuts, bytes.byteLength]) {
          along.push(...reader.push(bytes.slice(at, at + length)))
          at += length
        }
        expect(meaningOf(along)).toEqual(meaningOf(alone))
      }),
      { numRuns: 2000 },
    )
  })

  it('passes the events of a read that only speak on as one', () => {
    const reader = openaiChatStream({ hideUsage: true })
    const say = (...said: string[]) =>
      reader.push(encoder.encode(said.map((content) => frameOf(chunkOf({ content }))).join('')))
    expect(say('first')).toHaveLength(1)
    expect(say('second', ' third', ' fourth')).toMatchObject([{ characters: 19 }])
    expect(say('a "quoted"', ' word', ' more')).toMatchObject([{ characters: 10 }, { characters: 10 }])
  })

  it('knows chunks that are filled up to one length', () => {
    const reader = openaiChatStream({ hideUsage: true })
    const say = (...said: string[]) =>
      reader.push(
        encoder.encode(
          said
            .map((content) => frameOf(chunkOf({ content }, { obfuscation: 'x'.repeat(9 - content.length) })))
            .join(''),
        ),
      )
    say('first')
    expect(say('two', 'three', 'four')).toMatchObject([{ characters: 12 }])
  })

  const steps = (reader: ReturnType<typeof openaiChatStream>, chunk: unknown) =>
    reader.push(encoder.encode(frameOf(chunk)))

  it('goes on after an empty finish reason, which some vendors write into every chunk', () => {
    const reader = openaiChatStream({ hideUsage: true })
    expect(steps(reader, chunkOf({ content: 'a' }, {}, '')).some(({ finished }) => finished)).toBe(false)
    expect(steps(reader, chunkOf({}, {}, 'stop'))).toMatchObject([{ finished: true }])
  })

  const ending = (index: number) => ({ ...envelope, choices: [{ index, delta: {}, finish_reason: 'stop' }] })

  it('is complete when each of its choices is', () => {
    const reader = openaiChatStream({ hideUsage: true, choices: 2 })
    for (const index of [0, 0]) expect(steps(reader, ending(index))[0]?.finished).toBeUndefined()
    expect(steps(reader, ending(1))).toMatchObject([{ finished: true }])
  })

  it('is complete with fewer choices where its vendor says that nothing follows', () => {
    const reader = openaiChatStream({ hideUsage: true, choices: 2 })
    expect(steps(reader, '[DONE]')[0]?.finished).toBeUndefined()
    steps(reader, ending(0))
    expect(steps(reader, '[DONE]')).toMatchObject([{ finished: true, done: true }])
  })
})

describe('of several choices', () => {
  const choice = (index: number, finish_reason: string | null = null) =>
    frameOf({ ...envelope, choices: [{ index, delta: { content: 'Hi' }, finish_reason }] })
  const isFinished = (...frames: readonly string[]) =>
    openaiChatStream({ hideUsage: true, choices: 3 })
      .push(encoder.encode(`${frames.join('')}${frameOf('[DONE]')}`))
      .some(({ finished }) => finished)

  it('fewer than were asked for are a whole answer, but not when one that began did not end', () => {
    expect(isFinished(choice(0), choice(1), choice(0, 'stop'), choice(1, 'stop'))).toBe(true)
    expect(isFinished(choice(0), choice(1), choice(1), choice(0, 'stop'))).toBe(false)
    expect(isFinished(choice(0), choice(1))).toBe(false)
  })
})
