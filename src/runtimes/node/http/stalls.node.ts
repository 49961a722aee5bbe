import { unsent, untaken } from '../../../pipeline/client.ts'
import type { Connections } from './drain.node.ts'
import { expectsContinue } from './expectations.node.ts'
import type { OutgoingAnswer } from './messages.node.ts'

const LONGEST_INTERVAL_MS = 5000

/** The bytes that a client has read or sent, and the time since when it is that many. */
interface Progress {
  readonly bytes: number
  readonly since: number
}

/** Ends the calls of clients that read nothing of their answer, or send nothing of a body that is waited for. One timer
 *  checks all of them: a timer for each would cost every call. */
export function watchStalls(open: Connections['open'], stallMs: number): () => void {
  const reading = new WeakMap<OutgoingAnswer, Progress>()
  const sending = new WeakMap<OutgoingAnswer, Progress>()
  const check = () => {
    const now = performance.now()
    for (const { outgoing, left: call } of open()) {
      if (isStalled(reading, outgoing, readBytes(outgoing), now - stallMs)) {
        call.abort(untaken())
        outgoing.destroy()
      } else if (isStalled(sending, outgoing, sentBytes(outgoing), now - stallMs)) {
        outgoing.shouldKeepAlive = false
        call.abort(unsent())
      }
    }
  }
  const timer = setInterval(check, Math.min(LONGEST_INTERVAL_MS, stallMs / 4)).unref()
  return () => clearInterval(timer)
}

/** The bytes that a client has read over its connection; undefined if nothing waits to be read. An answer that waits
 *  behind another one of the same connection has no socket yet. */
function readBytes({ socket, writableLength }: OutgoingAnswer): number | undefined {
  if (!socket || writableLength + socket.writableLength === 0) return undefined
  return socket.bytesWritten - socket.writableLength
}

/** The bytes that a client has sent; undefined if its body is complete, or if received bytes have not been read yet. */
function sentBytes({ socket, req: incoming }: OutgoingAnswer): number | undefined {
  if (!socket || incoming.complete || incoming.readableLength > 0 || expectsContinue(incoming)) return undefined
  return socket.bytesRead
}

function isStalled(
  progress: WeakMap<OutgoingAnswer, Progress>,
  outgoing: OutgoingAnswer,
  bytes: number | undefined,
  before: number,
): boolean {
  if (bytes === undefined) {
    progress.delete(outgoing)
    return false
  }
  const last = progress.get(outgoing)
  if (last?.bytes === bytes) return last.since <= before
  progress.set(outgoing, { bytes, since: performance.now() })
  return false
}
