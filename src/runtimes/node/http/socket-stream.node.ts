import { release } from '../../../lib/forms/gathering.node.ts'
import { type ClientStream, clientClosed } from '../../../pipeline/client.ts'
import type { OutgoingAnswer } from './messages.node.ts'

/** A stream whose writes wait for the socket. Pieces are written to the socket directly: passing one through the stream
 *  would cost more than the rest of its relay. The reader of `readable` sends the head, and then gets no pieces, only
 *  the end or the cancellation. */
export function socketStream(outgoing: OutgoingAnswer): ClientStream {
  let controller: ReadableStreamDefaultController<Uint8Array>
  let room: PromiseWithResolvers<void> | undefined
  let begun = false
  let cancelled = false
  const resume = () => {
    room?.resolve()
    room = undefined
  }
  const whenWritable = () => {
    room ??= Promise.withResolvers<void>()
    return room.promise
  }
  const readable = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started
      },
      pull() {
        begun = true
        resume()
      },
      cancel() {
        cancelled = true
        room?.reject(clientClosed())
      },
    },
    // `pull` is called by the first read, which follows the head.
    { highWaterMark: 0 },
  )
  const send = (bytes: Uint8Array, owned?: boolean): Promise<void> | undefined => {
    if (cancelled || outgoing.destroyed) return Promise.reject(clientClosed())
    const hasRoom = owned ? outgoing.write(bytes, (error) => error ?? release(bytes)) : outgoing.write(bytes)
    if (hasRoom) return undefined
    // Pieces that wait together wait for one event.
    if (!room) outgoing.once('drain', resume)
    return whenWritable()
  }
  return {
    readable,
    write: (bytes, owned) => (begun || cancelled ? send(bytes, owned) : whenWritable().then(() => send(bytes, owned))),
    abort: () => void outgoing.destroy(),
    async close() {
      if (!cancelled) controller.close()
    },
  }
}
