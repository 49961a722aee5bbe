import { Readable, type Transform } from 'node:stream'
// Node before 22.15 lacks zstd.
import * as zlib from 'node:zlib'
import type { Abort } from '../lib/abort.ts'
import { readAll } from './read-all.ts'
import { TransportError, type UpstreamBody, type UpstreamResponse } from './transport.ts'

/** By the name in `content-encoding`. Unzip reads what gzip and deflate make; nothing here reads the last ones. Servers
 *  write other words there, too, such as the name of a charset: they say nothing of the body. */
const DECODERS: ReadonlyMap<string, (() => Transform) | undefined> = new Map<string, (() => Transform) | undefined>([
  ['gzip', zlib.createUnzip],
  ['x-gzip', zlib.createUnzip],
  ['deflate', zlib.createUnzip],
  ['br', zlib.createBrotliDecompress],
  ['zstd', zlib.createZstdDecompress],
  ['compress', undefined],
  ['x-compress', undefined],
  ['dcb', undefined],
  ['dcz', undefined],
])
/** A body is rarely compressed twice. Each decoder takes memory. */
const MOST_CODINGS = 2

/** The answer without its compression. No request asks for one, but proxies compress all the same; `fetch` decodes their
 *  answers by itself. */
export function decoded(response: UpstreamResponse, signal: Abort): UpstreamResponse {
  const named = response.headers['content-encoding']
  if (named === undefined) return response
  const codings = named
    .toLowerCase()
    .split(',')
    .map(trimmed)
    .filter((coding) => DECODERS.has(coding))
  if (codings.length === 0) return response
  const decoders = codings.map((coding) => DECODERS.get(coding))
  const { 'content-encoding': _, 'content-length': __, ...headers } = response.headers
  let { body } = response
  if (decoders.length > MOST_CODINGS || decoders.includes(undefined)) body = unreadable(body)
  // The one that was applied last is undone first.
  else for (const decoder of decoders.reverse()) if (decoder) body = decodedBody(body, decoder(), signal)
  return { status: response.status, headers, body }
}

const trimmed = (text: string) => text.trim()

/** A body that nobody can read: what is no text would be handed to the client as it is. */
function unreadable(body: UpstreamBody): UpstreamBody {
  async function read(): Promise<never> {
    body.cancel()
    throw new TransportError('the upstream sent a body with a content-encoding that it was not asked for')
  }
  return { read, cancel: () => body.cancel(), bytes: read }
}

function decodedBody(body: UpstreamBody, decoder: Transform, signal: Abort): UpstreamBody {
  let broken: { readonly error: unknown } | undefined
  const packed = Readable.from(piecesOf(body))
  packed.once('error', (error) => {
    broken ??= { error }
    decoder.destroy(error)
  })
  // Reported by whoever reads, if anybody does.
  decoder.once('error', () => packed.destroy())
  // A few bytes that have all come may still grow for minutes.
  const left = () => {
    broken ??= { error: signal.reason }
    decoder.destroy()
  }
  signal.addEventListener('abort', left, { once: true })
  decoder.once('close', () => {
    signal.removeEventListener('abort', left)
    packed.destroy()
  })
  const plain: AsyncIterator<Uint8Array> = packed.pipe(decoder)[Symbol.asyncIterator]()
  async function read(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await plain.next()
      return done ? undefined : value
    } catch (cause) {
      if (broken) throw broken.error
      body.cancel()
      throw new TransportError('the upstream sent a body that is not what its content-encoding says', { cause })
    }
  }
  function cancel(): void {
    body.cancel()
    decoder.destroy()
  }
  return { read, cancel, bytes: (limitBytes, arrived) => readAll({ read, cancel }, limitBytes, arrived) }
}

async function* piecesOf(body: UpstreamBody): AsyncGenerator<Uint8Array> {
  for (let piece = await body.read(); piece !== undefined; piece = await body.read()) yield piece
}
