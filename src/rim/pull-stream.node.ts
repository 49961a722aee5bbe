import { GatewayError } from '../lib/errors.ts'
import type { ClientStream } from '../pipeline/client.ts'

/** A stream that takes a piece when the socket has taken the one before. */
export function pullStream(breakOff: () => void): ClientStream {
  let controller: ReadableStreamDefaultController<Uint8Array>
  let room: PromiseWithResolvers<void> | undefined
  let left = false
  const gone = () => new GatewayError('client_closed', 'The client closed the connection.')
  const readable = new ReadableStream<Uint8Array>({
    start(started) {
      controller = started
    },
    pull() {
      room?.resolve()
      room = undefined
    },
    cancel() {
      left = true
      room?.reject(gone())
    },
  })
  return {
    readable,
    async write(bytes) {
      if (left) throw gone()
      controller.enqueue(bytes)
      if ((controller.desiredSize ?? 1) > 0) return
      room ??= Promise.withResolvers<void>()
      await room.promise
    },
    abort: breakOff,
    async close() {
      if (!left) controller.close()
    },
  }
}
