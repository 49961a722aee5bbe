import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import type { Abort } from '../lib/abort.ts'
import { readAll } from './read-all.ts'
import { TransportError, type UpstreamBody, type UpstreamResponse } from './transport.ts'

/** By the value of `content-encoding`. Unzip reads what gzip and deflate make. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createUnzip],
  ['x-gzip', createUnzip],
  ['deflate', createUnzip],
  ['br', createBrotliDecompress],
])

/** The answer without its compression. No request asks for one, but proxies compress all the same; `fetch` decodes their
 *  answers by itself. */
export function decoded(response: UpstreamResponse, signal: Abort): UpstreamResponse {
  const coding = response.headers['content-encoding']
  const decoder = coding === undefined ? undefined : DECODERS.get(coding.trim().toLowerCase())
  if (!decoder) return response
  const { 'content-encoding': _, 'content-length': __, ...headers } = response.headers
  return { status: response.status, headers, body: decodedBody(response.body, decoder(), signal) }
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
