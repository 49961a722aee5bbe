import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { TransportError } from './transport.ts'

/** A connection that has been silent for so long is sent a ping, and has as long to say anything. */
const SILENCE_MS = 15_000

/** Tells the calls of this process over HTTP/2 two things that they would not learn otherwise: that nobody is at the far
 *  end of their connection any more, which every further call would be sent over, too; and that their answer was reset,
 *  which Node reports as its end if the code is that of no error or of a cancellation. Returns what ends it. */
export function watchHttp2(): () => void {
  const watched = new WeakSet<ClientHttp2Session>()
  function began(message: unknown): void {
    const { session } = (message as { readonly stream: ClientHttp2Stream }).stream
    if (!session || watched.has(session as ClientHttp2Session)) return
    watched.add(session as ClientHttp2Session)
    watchSilence(session as ClientHttp2Session)
  }
  subscribe('http2.client.stream.start', began)
  subscribe('http2.client.stream.close', closing)
  return () => {
    unsubscribe('http2.client.stream.start', began)
    unsubscribe('http2.client.stream.close', closing)
  }
}

function watchSilence(session: ClientHttp2Session): void {
  let read: number | undefined
  let asked = false
  const timer = setInterval(() => {
    // Its end comes when the far end hangs up as well. Until then it has no socket.
    if (session.destroyed) return clearInterval(timer)
    const { bytesRead } = session.socket
    if (bytesRead !== read) asked = false
    else if (asked) session.destroy(new TransportError('the upstream says nothing any more'))
    else asked = session.ping(() => {})
    read = bytesRead
  }, SILENCE_MS)
  timer.unref()
  session.once('close', () => clearInterval(timer))
}

/** Called before the stream's reader is told of an end. */
function closing(message: unknown): void {
  const { stream } = message as { readonly stream: ClientHttp2Stream & Ending }
  if (!stream._readableState.ended) stream.destroy(new TransportError('the upstream reset its answer'))
}

/** Whether the end of an answer has come, although it may not have been read yet. */
interface Ending {
  readonly _readableState: { readonly ended: boolean }
}
