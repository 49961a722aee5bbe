import type { ServerResponse } from 'node:http'
import { type ClientStream, clientClosed } from '../../../pipeline/client.ts'

/** A stream that takes a piece when the socket has taken the one before. Whoever reads it sends the head first, and waits
 *  for a piece that never comes: pieces go to the socket by themselves, because the way through the stream costs more a
 *  piece than all the rest of its relay. Only its end and its cancelling go through it. */
export function socketStream(outgoing: ServerResponse): ClientStream {
  let controller: ReadableStreamDefaultController<Uint8Array>
  let room: PromiseWithResolvers<void> | undefined
  let begun = false
  let left = false
  const makeRoom = () => {
    room?.resolve()
    room = undefined
  }
  const roomMade = () => {
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
        makeRoom()
      },
      cancel() {
        left = true
        room?.reject(clientClosed())
      },
    },
    // It is pulled when it is read, which is when the head has gone.
    { highWaterMark: 0 },
  )
  const send = (bytes: Uint8Array): Promise<void> | undefined => {
    if (left || outgoing.destroyed) return Promise.reject(clientClosed())
    if (outgoing.write(bytes)) return undefined
    outgoing.once('drain', makeRoom)
    return roomMade()
  }
  return {
    readable,
    write: (bytes) => (begun || left ? send(bytes) : roomMade().then(() => send(bytes))),
    abort: () => void outgoing.destroy(),
    async close() {
      if (!left) controller.close()
    },
  }
}
