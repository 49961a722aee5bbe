import { describe, expect, it } from 'vitest'
import { joinBytes } from '../../src/lib/bytes/bytes.ts'
import { GatewayError } from '../../src/lib/errors.ts'
import type { ChatChunk } from '../../src/modes/chat-completion.ts'
import { type Usage, usageOf } from '../../src/modes/usage.ts'
import { providers } from '../../src/providers/index.ts'
import type {
  Adapter,
  Capability,
  Connection,
  Outgoing,
  StreamReader,
  StreamStep,
} from '../../src/providers/provider.ts'
import { gatewayParams } from '../../src/routing/configuration.ts'
import { openHeaders } from '../../src/transport/open-headers.ts'
import type { UpstreamRequest } from '../../src/transport/transport.ts'
import { wholeBody } from '../../src/transport/whole-body.ts'
import type { ProviderFixtures, PublicRequest, Said, StreamGolden } from '../fixtures/provider-fixtures.ts'
import { mutations } from './provider/mutations.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const NOW = Date.UTC(2026, 0, 1)
/** Of a long stream not every cut is tried: each reads the whole of it. */
const MOST_CUTS = 300

/** Holds one provider to its recorded exchanges. */
export function providerSuite(set: ProviderFixtures): void {
  const provider = providers.get(set.kind)
  if (!provider) throw new TypeError(`no provider '${set.kind}'`)

  const connect = (more: object = {}, defaults: Readonly<Record<string, unknown>> = {}): Connection =>
    provider.connect(gatewayParams().parse({ ...set.parameters, ...more }), defaults)
  const adaptersOf = (connection: Connection) => provider.adaptersOf?.(connection) ?? provider.adapters
  const adapters = adaptersOf(connect())
  const adapterOf = (capability: Capability = 'chat', among = adapters): Adapter => {
    const adapter = among[capability]
    if (!adapter) throw new TypeError(`'${set.kind}' has no adapter for ${capability}`)
    return adapter
  }

  describe(`the provider ${set.kind}`, () => {
    it.each(set.requests)(
      'asks $name',
      async ({ capability, request, defaults, parameters, clientHeaders, upstream }) => {
        const connection = connect(parameters, defaults)
        // The voice is no field of a request: the pipeline leaves it to the connection.
        const { voice_id: _voice, ...filled } = defaults ?? {}
        const call = outgoing({ ...filled, ...request }, clientHeaders)
        const asked = await adapterOf(capability, adaptersOf(connection)).request(call, connection)
        expect(asked.method).toBe(upstream.method ?? 'POST')
        expect(asked.origin + asked.path).toBe(upstream.url)
        if (upstream.headers) expect(JSON.parse(JSON.stringify(asked.headers))).toEqual(upstream.headers)
        if (set.credential) expect(openHeaders(asked.headers)[set.credential.header]).toBe(set.credential.value)
        const body = await textOf(asked)
        expect(typeof upstream.body === 'string' ? body : JSON.parse(body)).toEqual(upstream.body)
      },
    )

    it('keeps its credential sealed', () => {
      if (!set.credential) return
      const written = JSON.stringify(connect())
      expect(written).not.toContain(set.credential.value)
      expect(written).toContain('[secret]')
    })

    describe.skipIf(!set.refusals?.length)('refuses', () => {
      it.each(set.refusals ?? [])('$name', async ({ capability, request, param }) => {
        const asking = async () => adapterOf(capability).request(outgoing(request), connect())
        const error = await asking().then(
          () => undefined,
          (thrown) => thrown,
        )
        expect(error).toBeInstanceOf(GatewayError)
        expect(error).toMatchObject({ failure: 'invalid_request', details: { param } })
      })
    })

    it.each(set.replies)('reads $name', ({ capability, request, headers, body, means, usage }) => {
      const bytes = encoder.encode(typeof body === 'string' ? body : JSON.stringify(body))
      const read = () => adapterOf(capability).reply(bytes, headersOf(headers), outgoing(request))
      if ('failure' in means) {
        expect(thrownBy(read)).toMatchObject({ failure: means.failure })
        return
      }
      const reply = read()
      if ('completion' in means) expect(reply.completion).toEqual(means.completion)
      else if ('json' in means) expect(JSON.parse(decoder.decode(reply.bytes))).toEqual(means.json)
      else expect(decoder.decode(reply.bytes)).toBe(decoder.decode(bytes))
      expect(counted(reply.usage)).toEqual(usage && usageOf(usage))
      if (!usage) expect(reply.outputCharacters).toBeGreaterThan(0)
    })

    it.each(set.replies)('makes nothing else than an error of $name with something else inside', (golden) => {
      const adapter = adapterOf(golden.capability)
      const read = (text: string) =>
        adapter.reply(encoder.encode(text), headersOf(golden.headers), outgoing(golden.request))
      for (const text of ['', 'null', '[]', '{}', '"x"', '<html></html>', '{"a":']) {
        expect(
          thrownBy(() => read(text)),
          text,
        ).toBeInstanceOf(GatewayError)
      }
      if (typeof golden.body === 'string') return
      for (const text of mutations(golden.body)) {
        const thrown = thrownBy(() => read(text))
        if (thrown !== undefined) expect(thrown, text).toBeInstanceOf(GatewayError)
      }
    })

    describe.skipIf(set.streams.length === 0)('streams', () => {
      it.each(set.streams)('$name', (golden) => {
        const bytes = bytesOf(golden)
        const whole = readPieces(open(golden), [bytes])
        expect(whole).toEqual(expected(golden, bytes))
      })

      it.each(set.streams)('$name, cut into bytes, and once at any of them', (golden) => {
        const bytes = bytesOf(golden)
        const whole = expected(golden, bytes)
        for (let at = 1; at < bytes.byteLength; at += Math.ceil(bytes.byteLength / MOST_CUTS)) {
          const pieces = [bytes.subarray(0, at), bytes.subarray(at)]
          const read = readPieces(open(golden), pieces)
          if (JSON.stringify(read) !== JSON.stringify(whole)) expect(read, `cut at ${at}`).toEqual(whole)
        }
        const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
        expect(readPieces(open(golden), single)).toEqual(whole)
      })

      it.each(set.streams)('$name, and commits with its first content', (golden) => {
        const steps = open(golden).push(bytesOf(golden))
        const first = steps.findIndex((step) => step.commits || (step.characters ?? 0) > 0)
        const speaks = steps.findIndex(({ chunk }) =>
          chunk?.choices.some(({ delta }) => delta.content || delta.tool_calls),
        )
        if (steps.some(({ finished }) => finished)) expect(first).toBeGreaterThanOrEqual(0)
        if (speaks !== -1) expect(first === -1 ? Number.POSITIVE_INFINITY : first).toBeLessThanOrEqual(speaks)
      })

      it.each(set.streams)('$name, with any byte broken, without throwing', (golden) => {
        const bytes = bytesOf(golden)
        for (let at = 0; at < bytes.byteLength; at += 3) {
          const broken = bytes.slice()
          broken[at] = at % 2 === 0 ? 0x7b : 0x22
          open(golden).push(broken)
        }
      })
    })

    it.each(set.failures)('calls $name $failure', (golden) => {
      const { capability, status, headers, body, failure, message, retryAfterSeconds, answers } = golden
      const bytes = encoder.encode(typeof body === 'string' ? body : JSON.stringify(body))
      const error = adapterOf(capability).failure(status, headersOf(headers), bytes, NOW)
      expect(error).toBeInstanceOf(GatewayError)
      expect(error.failure).toBe(failure)
      expect(error.details.retryAfterSeconds).toBe(retryAfterSeconds)
      if (message !== undefined) expect(error.message).toBe(message)
      if (answers !== undefined) expect(error.status).toBe(answers)
    })

    it('names any answer outside 2xx', () => {
      for (const adapter of Object.values(adapters)) {
        for (const status of [302, 400, 401, 403, 404, 408, 409, 413, 418, 422, 429, 500, 502, 503, 504, 529]) {
          for (const body of [
            '',
            'null',
            '<html></html>',
            '[]',
            '{"error":null}',
            '{"error":"words"}',
            '{"message":5}',
          ]) {
            const error = adapter.failure(status, {}, encoder.encode(body), NOW)
            expect(error).toBeInstanceOf(GatewayError)
            expect(error.message).not.toBe('')
          }
        }
      }
    })
  })

  function open(golden: StreamGolden): StreamReader {
    const reader = adapterOf(golden.capability).stream?.(outgoing(golden.request), headersOf(golden.headers))
    if (!reader) throw new TypeError(`'${set.kind}' does not stream ${golden.capability ?? 'chat'}`)
    return reader
  }
}

function outgoing(
  request: PublicRequest = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
  clientHeaders: Readonly<Record<string, string>> = {},
): Outgoing {
  const bytes = encoder.encode(JSON.stringify(request))
  const streamed = request.stream === true
  return { body: request, bytes, streamed, clientHeaders }
}

const headersOf = (headers: Readonly<Record<string, string>> = {}) => ({
  'content-type': 'application/json',
  ...headers,
})

async function textOf({ body, upload }: UpstreamRequest): Promise<string> {
  const whole = wholeBody(body)
  if (!upload) return typeof whole === 'string' ? whole : decoder.decode(whole)
  const pieces: Uint8Array[] = []
  for (let piece = await upload.read(); piece; piece = await upload.read()) pieces.push(piece)
  return decoder.decode(joinBytes(pieces))
}

const bytesOf = ({ body }: StreamGolden) => (typeof body === 'string' ? encoder.encode(body) : body)

function thrownBy(act: () => unknown): unknown {
  try {
    act()
  } catch (thrown) {
    return thrown
  }
  return undefined
}

/** All that the steps of a stream come to. */
interface Read {
  readonly says: unknown
  readonly relayed: string
  readonly usage: unknown
  readonly ends: unknown
  readonly malformed: number
}

function readPieces(reader: StreamReader, pieces: readonly Uint8Array[]): Read {
  const steps: StreamStep[] = []
  // Nothing is asked of a reader behind the step that ends a stream.
  for (const piece of pieces) {
    if (steps.some(ending)) break
    steps.push(...reader.push(piece))
  }
  const end = steps.findIndex(ending)
  const read = end === -1 ? steps : steps.slice(0, end + 1)
  const failure = read.find((step) => step.failure)?.failure
  const done = read.some((step) => step.done)
  const finished = read.some((step) => step.finished)
  return {
    says: read.flatMap(({ chunk }) => (chunk ? [chunk] : [])),
    relayed: decoder.decode(joinBytes(read.flatMap(({ out }) => (out ? [out] : [])))),
    usage: counted(read.findLast((step) => step.usage)?.usage),
    ends: failure ? { failure: failure.failure } : done && finished ? 'done' : finished ? 'finished' : 'open',
    malformed: read.filter((step) => step.malformed).length,
  }
}

/** That no tool was used is not worth a word in a golden. */
function counted(usage: Usage | undefined): Usage | undefined {
  if (!usage?.toolUses || Object.keys(usage.toolUses).length > 0) return usage
  const { toolUses: _none, ...rest } = usage
  return rest
}

const ending = (step: StreamStep) => step.done === true || step.failure !== undefined

/** The empty usage of a chunk of chat, which is for clients that asked for the last one alone. */
const EMPTY_USAGE = /^(data: .*"choices":.*),"usage":null/gm

const asksForUsage = (request: StreamGolden['request']) =>
  (request?.stream_options as { include_usage?: unknown } | undefined)?.include_usage === true

function expected({ request, means, usage, ends = 'done', malformed = 0 }: StreamGolden, bytes: Uint8Array): Read {
  const known = usage && usageOf(usage)
  if ('relayed' in means) {
    const text = means.relayed === 'all' ? decoder.decode(bytes) : means.relayed
    const relayed = asksForUsage(request) ? text : text.replace(EMPTY_USAGE, '$1')
    return { says: [], relayed, usage: known, ends, malformed }
  }
  const { id, model, created, says } = means
  const chunk = (said: Said): ChatChunk => ({ id, object: 'chat.completion.chunk', created, model, ...inChunk(said) })
  return { says: says.map(chunk), relayed: '', usage: known, ends, malformed }
}

function inChunk(said: Said): Pick<ChatChunk, 'choices' | 'usage'> {
  if ('usage' in said) return { choices: [], usage: said.usage }
  return { choices: [{ index: said.index ?? 0, delta: said.delta, finish_reason: said.finish ?? null }] }
}
