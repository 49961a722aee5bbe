import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { geminiDialect } from '../../../src/api/dialects/gemini.ts'
import type { ChatRequest } from '../../../src/modes/chat.ts'
import type { ModelRequest } from '../../../src/modes/mode.ts'
import { generateContent } from '../../../src/providers/gemini/generate-content.ts'
import type { Outgoing } from '../../../src/providers/provider.ts'
import { deploymentOf } from '../../support/deployment-of.ts'
import { type Json, joined } from './gemini-parts.ts'

const RUNS = { numRuns: 200 }
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const { connection } = deploymentOf('gemini/gemini-3-flash')

type Content = { readonly role: string; readonly parts: readonly Json[] }

const words = fc.string({ unit: 'grapheme', minLength: 1 })
const text = words.map((one) => ({ text: one }))
const data = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => btoa(String.fromCharCode(...bytes)))
const picture = data.map((one) => ({ inlineData: { mimeType: 'image/png', data: one } }))
const sound = data.map((one) => ({ inlineData: { mimeType: 'audio/wav', data: one } }))
const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,5}$/)
const args = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
const calls = fc.uniqueArray(fc.record({ id: fc.uuid(), name, args }), { maxLength: 3, selector: ({ id }) => id })
const signature = fc.option(data, { nil: undefined })

/** What a model says: words, pictures, and calls behind them; signed as the vendor signs. Calls always are. */
const said = fc
  .record({ shown: fc.array(fc.oneof(text, picture), { maxLength: 3 }), called: calls, signed: signature, own: data })
  .filter(({ shown, called }) => shown.length + called.length > 0)
  .map(({ shown, called, signed, own }): Json[] => {
    const place = called.length > 0 ? shown.length : shown.length - 1
    const given = called.length > 0 ? own : signed
    const parts: Json[] = [...shown, ...called.map((functionCall) => ({ functionCall }))]
    return given === undefined ? parts : parts.with(place, { ...parts[place], thoughtSignature: given })
  })

const answerOf = (part: Json, response: Json): Json[] => {
  const { id, name: called } = (part.functionCall ?? {}) as Json
  return part.functionCall ? [{ functionResponse: { id, name: called, response } }] : []
}
const response = fc.oneof(
  words.map((output) => ({ output: `It is ${output}` })),
  fc.jsonValue().map((value) => ({ value })),
)

/** Turns of both sides; every call of a function is answered. */
const conversation = fc
  .array(fc.tuple(fc.array(fc.oneof(text, picture, sound), { minLength: 1, maxLength: 3 }), said, response), {
    minLength: 1,
    maxLength: 4,
  })
  .map((exchanges) =>
    exchanges.flatMap(([parts, made, given]): Content[] => {
      const results = made.flatMap((part) => answerOf(part, given))
      const asked = [
        { role: 'user', parts },
        { role: 'model', parts: made },
      ]
      return results.length > 0 ? [...asked, { role: 'user', parts: results }] : asked
    }),
  )

/** Contents with neighbours of one role in one. */
function turns(contents: readonly Content[]): Content[] {
  const all: Content[] = []
  for (const { role, parts } of contents) {
    const before = all.at(-1)
    if (before?.role === role) all[all.length - 1] = { role, parts: [...before.parts, ...parts] }
    else all.push({ role, parts })
  }
  return all
}

const count = (min = 0) => fc.nat(50).map((number) => number + min)
const usage = fc.record({ prompt: count(20), candidates: count(1), thoughts: count(), cached: fc.nat(20) }).map(
  ({ prompt, candidates, thoughts, cached }): Json => ({
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + candidates + thoughts,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
  }),
)
const thoughts = fc.array(words, { maxLength: 2 }).map((list) => list.map((one) => ({ text: one, thought: true })))

const answer = { modelVersion: 'gemini-3-flash', responseId: 'r-1' }
const asking = { model: 'm', contents: [], generationConfig: { thinkingConfig: { includeThoughts: true } } }
const request = asking as unknown as ModelRequest
const outgoing = (body: object): Outgoing<ChatRequest> => ({
  body: body as ChatRequest,
  bytes: encoder.encode(JSON.stringify(body)),
  streamed: false,
})

interface Candidates {
  readonly candidates: readonly { readonly content: Content; readonly finishReason?: string }[]
}

const partsIn = ({ candidates }: Candidates) => candidates.flatMap(({ content }) => content.parts)
const signatures = (parts: readonly Json[]) => parts.flatMap(({ thoughtSignature }) => thoughtSignature ?? [])
/** Words before pictures before calls: chat has them in fields of their own. */
const sorted = (parts: readonly Json[]) =>
  joined([
    ...parts.filter(({ text: one }) => one !== undefined),
    ...parts.filter(({ inlineData }) => inlineData !== undefined),
    ...parts.filter(({ functionCall }) => functionCall !== undefined),
  ])

/** The bytes in pieces that end anywhere. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % bytes.byteLength), bytes.byteLength].sort((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

describe('by way of chat, and back to the same vendor', () => {
  it('a conversation is what it was: words, pictures, calls with their ids, results, signatures', () => {
    fc.assert(
      fc.property(conversation, (contents) => {
        const chat = geminiDialect.toChat({ model: 'm', contents } as unknown as ModelRequest)
        const { body } = generateContent.request(outgoing(chat), connection) as { body: string }
        expect(JSON.stringify(turns(JSON.parse(body).contents))).toBe(JSON.stringify(turns(contents)))
      }),
      RUNS,
    )
  })

  it('an answer is what it was, with its usage', () => {
    fc.assert(
      fc.property(thoughts, said, usage, (thought, made, usageMetadata) => {
        const parts = [...thought, ...made]
        const given = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] }
        const bytes = encoder.encode(JSON.stringify({ ...given, usageMetadata, ...answer }))
        const { completion } = generateContent.reply(bytes, {}, outgoing({ model: 'm' }))
        if (!completion) throw new Error('there is no completion')
        const written = geminiDialect.fromChat(completion, request) as Candidates
        expect(written).toMatchObject({ candidates: [{ finishReason: 'STOP' }], modelVersion: 'gemini-3-flash' })
        expect(written).toHaveProperty('usageMetadata', usageMetadata)
        expect(sorted(partsIn(written))).toEqual(sorted(parts))
        expect(signatures(partsIn(written))).toEqual(signatures(parts))
      }),
      RUNS,
    )
  })

  it('a stream says what it said, wherever its pieces end', () => {
    fc.assert(
      fc.property(
        thoughts,
        said,
        usage,
        fc.array(fc.nat(), { maxLength: 9 }),
        (thought, made, usageMetadata, places) => {
          const parts = [...thought, ...made]
          const events = [
            ...parts.map((part) => ({
              candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }],
              ...answer,
            })),
            {
              candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }],
              usageMetadata,
            },
          ]
          const bytes = encoder.encode(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''))
          const reader = generateContent.stream?.(outgoing({ model: 'm' }), {})
          const steps = cut(bytes, places).flatMap((piece) => reader?.push(piece) ?? [])
          expect(steps.at(-1)).toMatchObject({ done: true })
          const writer = geminiDialect.stream(request)
          const written = [...steps.flatMap(({ chunk }) => (chunk ? [writer.write(chunk)] : [])), writer.close()]
          const read = written
            .map((piece) => decoder.decode(piece))
            .join('')
            .split('\r\n\r\n')
            .filter((event) => event !== '')
            .map((event) => JSON.parse(event.slice(6)) as Candidates)
          expect(read.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }], usageMetadata })
          expect(sorted(read.flatMap(partsIn))).toEqual(sorted(parts))
          expect(signatures(read.flatMap(partsIn))).toEqual(signatures(parts))
        },
      ),
      RUNS,
    )
  })
})
