import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'

/** Requests with `Expect: 100-continue` whose client waits before it sends the body. */
const waiting = new WeakSet<IncomingMessage>()

/** Delays `100 Continue` until the body is read: the body of a refused request need not be sent. */
export function onExpectation(server: Server, listener: RequestListener): void {
  server.on('checkContinue', (incoming, outgoing) => {
    waiting.add(incoming)
    listener(incoming, outgoing)
  })
}

export function expectsContinue(incoming: IncomingMessage): boolean {
  return waiting.has(incoming)
}

/** Sends a delayed `100 Continue`. Call it before a body is read. */
export function continueBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (waiting.delete(incoming)) outgoing.writeContinue()
}
