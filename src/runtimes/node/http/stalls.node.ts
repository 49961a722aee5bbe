import type { ServerResponse } from 'node:http'
import { unsent, untaken } from '../../../pipeline/client.ts'
import type { Connections } from './drain.node.ts'
import { expectsContinue } from './expectations.node.ts'

const LONGEST_LOOK_MS = 5000

/** How far a client was when it was looked at, and since when. */
interface Look {
  readonly far: number
  readonly since: number
}

/** Ends the calls of clients that take nothing of what is written to them, or send nothing of a body that is waited for.
 *  By looks at all of them from time to time: a timer for each would cost every call. */
export function watchStalls(open: Connections['open'], stallMs: number): () => void {
  const taking = new WeakMap<ServerResponse, Look>()
  const sending = new WeakMap<ServerResponse, Look>()
  const look = () => {
    const now = performance.now()
    for (const { outgoing, left } of open()) {
      if (isStalled(taking, outgoing, takenOf(outgoing), now - stallMs)) {
        left.abort(untaken())
        outgoing.destroy()
      } else if (isStalled(sending, outgoing, sentOf(outgoing), now - stallMs)) {
        outgoing.shouldKeepAlive = false
        left.abort(unsent())
      }
    }
  }
  const timer = setInterval(look, Math.min(LONGEST_LOOK_MS, stallMs / 4)).unref()
  return () => clearInterval(timer)
}

/** How much a client has taken over its connection, which something is written to; undefined where nothing is. What is
 *  behind another answer of the same connection has no socket yet. */
function takenOf({ socket, writableLength }: ServerResponse): number | undefined {
  if (!socket || writableLength + socket.writableLength === 0) return undefined
  return socket.bytesWritten - socket.writableLength
}

/** How much it has sent of what is waited for; undefined where it has sent everything, or more than was read yet. */
function sentOf({ socket, req: incoming }: ServerResponse): number | undefined {
  if (!socket || incoming.complete || incoming.readableLength > 0 || expectsContinue(incoming)) return undefined
  return socket.bytesRead
}

function isStalled(
  looks: WeakMap<ServerResponse, Look>,
  outgoing: ServerResponse,
  far: number | undefined,
  before: number,
): boolean {
  if (far === undefined) {
    looks.delete(outgoing)
    return false
  }
  const last = looks.get(outgoing)
  if (last?.far === far) return last.since <= before
  looks.set(outgoing, { far, since: performance.now() })
  return false
}
