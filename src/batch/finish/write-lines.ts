import { type RunningDigest, runningDigest } from '../../lib/crypto.ts'
import type { Blobs } from '../../stores/blobs/blobs.ts'
import type { WrittenFile } from '../../stores/sql/batches/finish-records.ts'
import { contentKey } from '../batch-ids.ts'
import type { ResultLine } from './result-lines.ts'

const PIECE_CHARACTERS = 65_536

/** Writes a file of lines into the store of blobs while they are read, again and again the same. Without a line there is
 *  no file. */
export async function writeLines(
  blobs: Blobs,
  { fileId, filename }: { readonly fileId: string; readonly filename: string },
  lines: AsyncGenerator<ResultLine>,
  signal: AbortSignal,
): Promise<WrittenFile | undefined> {
  let count = 0
  const counted = async function* (): AsyncGenerator<ResultLine> {
    for await (const line of lines) {
      signal.throwIfAborted()
      count += 1
      yield line
    }
  }
  const digest = runningDigest()
  const pieces = digested(piecesOf(counted()), digest)
  const first = await pieces.next()
  if (first.done) return undefined
  try {
    const { size } = await blobs.put(contentKey(fileId), streamOf(first.value, pieces), 'application/jsonl')
    return { fileId, filename, bytes: size, sha256: digest.end(), lines: count }
  } finally {
    // A store that failed may not have touched the stream, and what is read for it would stay open.
    await pieces.return(undefined)
  }
}

async function* digested(pieces: AsyncGenerator<Uint8Array>, digest: RunningDigest): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    digest.push(piece)
    yield piece
  }
}

/** The bytes of the lines and their ends, short ones together. */
async function* piecesOf(lines: AsyncGenerator<ResultLine>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  let text = ''
  for await (const line of lines) {
    if (typeof line === 'string') text += line
    else {
      if (text !== '') yield encoder.encode(text)
      text = ''
      yield line
    }
    text += '\n'
    if (text.length < PIECE_CHARACTERS) continue
    yield encoder.encode(text)
    text = ''
  }
  if (text !== '') yield encoder.encode(text)
}

function streamOf(first: Uint8Array, pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  let next: Uint8Array | undefined = first
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = next ?? (await pieces.next()).value
      next = undefined
      if (piece) controller.enqueue(piece)
      else controller.close()
    },
    async cancel() {
      await pieces.return(undefined)
    },
  })
}
