import { atMost } from '../../../lib/timers/at-most.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import type { Scope } from '../../scope.ts'

/** The longest wait for the next piece of a blob. */
const PIECE_MS = 60_000

/** Sends `length` bytes of a blob at the client's pace. Where the blob fails or ends earlier, the connection breaks: a
 *  client must not take a part for the whole. For a HEAD request the blob is not read. */
export function sendBlob(
  { client, isHead }: Pick<Scope, 'client' | 'isHead'>,
  blob: ReadableStream<Uint8Array>,
  length: number,
  failed: (error: unknown) => void,
): Answer['body'] {
  if (isHead) {
    client.defer(blob.cancel().catch(failed))
    return new Uint8Array()
  }
  const stream = client.openStream(length)
  const reader = blob.getReader()
  const leave = () => stream.abort()

  async function send(): Promise<void> {
    let left = length
    while (!client.signal.aborted) {
      const read = await atMost(PIECE_MS, reader.read())
      if (!read) throw new Error('the storage has stopped in the middle of a file')
      const { value } = read.value
      if (value === undefined) break
      left -= value.byteLength
      if (value.byteLength > 0) await stream.write(value, true)
    }
    if (client.signal.aborted) return
    if (left !== 0) throw new Error(`the storage gave ${length - left} of ${length} bytes of a file`)
    await stream.close()
  }

  client.signal.addEventListener('abort', leave, { once: true })
  const sent = send()
    .catch((error) => {
      stream.abort()
      if (!client.signal.aborted) failed(error)
    })
    .finally(() => {
      client.signal.removeEventListener('abort', leave)
      void reader.cancel().catch(() => {})
    })
  client.defer(sent)
  return stream.readable
}
