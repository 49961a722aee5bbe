import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Capability } from '../../../src/providers/provider.ts'
import { fixtures } from '../../fixtures/index.ts'
import { chatInit, type TestGateway } from '../../support/gateway.ts'
import { frames, raw } from '../../support/upstream/index.ts'
import {
  expectClearFailure,
  fuzzGateway,
  HANG_MS,
  internalFailures,
  KINDS,
  parameters,
  uncaught,
} from './support/fuzz-gateway.ts'
import { mutatedJson, mutatedStream } from './support/mutated.ts'
import { familiar } from './support/near-schema.ts'

let world: Awaited<ReturnType<typeof fuzzGateway>>
let gateway: TestGateway
const thrown = uncaught()
beforeAll(async () => {
  world = await fuzzGateway()
  gateway = world.gateway
})
afterAll(async () => {
  thrown.stop()
  await world.close()
})

const messages = [{ role: 'user', content: 'Hello' }]
const tools = [{ type: 'function', function: { name: 'time', parameters: { type: 'object', properties: {} } } }]

/** How each kind of request is asked, and in which dialects. */
const QUESTIONS: Readonly<Partial<Record<Capability, readonly { readonly path: string; readonly body: object }[]>>> = {
  chat: [
    { path: '/v1/chat/completions', body: { messages, tools } },
    { path: '/v1/completions', body: { prompt: 'Hello' } },
    { path: '/v1/responses', body: { input: 'Hello' } },
    { path: '/v1/messages', body: { messages, max_tokens: 10 } },
  ],
  messages: [{ path: '/v1/messages', body: { messages, max_tokens: 10 } }],
  responses: [{ path: '/v1/responses', body: { input: 'Hello' } }],
  embedding: [{ path: '/v1/embeddings', body: { input: ['a', 'b'] } }],
  image_generation: [{ path: '/v1/images/generations', body: { prompt: 'a cat' } }],
  rerank: [{ path: '/v1/rerank', body: { query: 'q', documents: ['a', 'b'] } }],
}

const FORMATS = ['json', 'verbose_json', 'text', 'srt', 'vtt', 'diarized_json'] as const

/** One call of a client, and whether its answer is JSON when it is one. */
interface Question {
  readonly kind: string
  readonly path: string
  readonly init: () => RequestInit
  readonly json: boolean
}

function questionsOf(kind: string, capability: Capability, streamed: boolean): Question[] {
  if (capability === 'audio_transcription') return streamed ? [] : FORMATS.map((format) => transcription(kind, format))
  return (QUESTIONS[capability] ?? []).map(({ path, body }) => ({
    kind,
    path,
    json: !streamed,
    init: () => chatInit({ model: kind, ...body, ...(streamed ? { stream: true } : {}) }),
  }))
}

function transcription(kind: string, format: (typeof FORMATS)[number]): Question {
  const init = () => {
    const body = new FormData()
    body.append('file', new Blob(['sound']), 'a.wav')
    body.append('model', kind)
    body.append('response_format', format)
    return { method: 'POST', body }
  }
  return { kind, path: '/v1/audio/transcriptions', init, json: format.includes('json') }
}

const known = fixtures.filter(({ kind }) => KINDS.includes(kind))
const goldens = known.flatMap(({ kind, replies }) =>
  replies.flatMap(({ capability = 'chat', body }) =>
    questionsOf(kind, capability, false).map((question) => ({ question, body })),
  ),
)
const streamed = known.flatMap(({ kind, streams }) =>
  streams.flatMap(({ capability = 'chat', body, headers }) =>
    typeof body === 'string'
      ? questionsOf(kind, capability, true).map((question) => ({ question, body, headers }))
      : [],
  ),
)

const HTML = '<!DOCTYPE html><html><body>Just a moment...</body></html>'
const noise = fc.oneof(
  fc.constantFrom('', ' ', HTML, 'null', '[]', '{}', '"x"', '0', '{"error":null}', '{"error":"x"}', '{"data":[null]}'),
  fc.constantFrom('['.repeat(20_000), `"${'x'.repeat(100_000)}"`, '{"choices":[]}', '{"choices":[null]}', '{"text":1}'),
  fc.string({ unit: 'binary' }),
  familiar.map((value) => JSON.stringify(value)),
)
const status = fc.oneof(
  { weight: 8, arbitrary: fc.constant(200) },
  { weight: 2, arbitrary: fc.constantFrom(201, 204, 302, 400, 401, 404, 413, 422, 429, 500, 503, 529) },
)
const type = fc.oneof(
  { weight: 6, arbitrary: fc.constant('application/json') },
  { weight: 1, arbitrary: fc.constantFrom('text/html', 'text/plain', 'text/event-stream', 'x', '') },
)
const headers = fc
  .tuple(
    type,
    fc.option(fc.constantFrom('1', '-1', 'x', 'Wed, 21 Oct 2015 07:28:00 GMT', '99999999999'), { nil: undefined }),
  )
  .map(([contentType, retryAfter]) => ({
    ...(contentType === '' ? {} : { 'content-type': contentType }),
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  }))

async function ask(question: Question): Promise<{ status: number; text: string }> {
  const response = await gateway.fetch(question.path, { ...question.init(), signal: AbortSignal.timeout(HANG_MS) })
  const text = await response.text()
  expect(internalFailures(gateway), text).toEqual([])
  return { status: response.status, text }
}

describe('any answer of a provider', () => {
  it('is a whole answer or a clear failure', async () => {
    const answer = fc.constantFrom(...goldens).chain(({ question, body }) => {
      const whole = typeof body === 'string' ? body : JSON.stringify(body)
      const text = fc.oneof(
        { weight: 5, arbitrary: mutatedJson(body).map((value) => JSON.stringify(value) ?? '') },
        { weight: 1, arbitrary: fc.nat({ max: whole.length - 1 }).map((end) => whole.slice(0, end)) },
        { weight: 2, arbitrary: noise },
      )
      return fc.record({ question: fc.constant(question), text, status, headers })
    })
    await fc.assert(
      fc.asyncProperty(answer, async ({ question, text, status, headers }) => {
        world.upstream.script(`/${question.kind}`, [raw(status, text, headers)])
        const heard = await ask(question)
        if (heard.status === 200) {
          if (question.json) expect(typeof JSON.parse(heard.text)).toBe('object')
        } else expectClearFailure(heard.status, heard.text)
      }),
      parameters,
    )
    await gateway.idle()
    expect(thrown.errors).toEqual([])
  }, 60_000)

  it('is a stream that says how it ends, or a clear failure', async () => {
    const stream = fc.constantFrom(...streamed).chain(({ question, body, headers: own }) => {
      const pieces = fc.oneof(
        { weight: 6, arbitrary: mutatedStream(body) },
        { weight: 1, arbitrary: noise.map((text) => [text]) },
        { weight: 1, arbitrary: fc.nat({ max: body.length - 1 }).map((end) => [body.slice(0, end)]) },
      )
      return fc.record({ question: fc.constant(question), pieces, own: fc.constant(own ?? {}) })
    })
    await fc.assert(
      fc.asyncProperty(stream, async ({ question, pieces, own }) => {
        world.upstream.script(`/${question.kind}`, [frames(pieces, own)])
        const heard = await ask(question)
        if (heard.status !== 200) return expectClearFailure(heard.status, heard.text)
        expect(ends(heard.text), heard.text.slice(-500)).toBe(true)
      }),
      parameters,
    )
    await gateway.idle()
    expect(thrown.errors).toEqual([])
  }, 60_000)
})

/** The last thing said is that the answer is complete, or that it failed. */
function ends(text: string): boolean {
  const last =
    text
      .trimEnd()
      .split(/\n\n|\r\n\r\n|\r\r/)
      .findLast((frame) => /^(data|event):/m.test(frame)) ?? ''
  return /^data: ?\[DONE\]/m.test(last) || /"error"|message_stop|response\.(completed|incomplete|failed)/.test(last)
}
