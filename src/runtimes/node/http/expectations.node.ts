import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'

/** Requests whose clients wait to be told that their body is wanted. */
const waiting = new WeakSet<IncomingMessage>()

/** Tells them only when somebody reads it: what is refused before needs not be sent. */
export function onExpectation(server: Server, listener: RequestListener): void {
  server.on('checkContinue', (incoming, outgoing) => {
    waiting.add(incoming)
    listener(incoming, outgoing)
  })
}

export function expectsContinue(incoming: IncomingMessage): boolean {
  return waiting.has(incoming)
}

/** To be called before a body is read. */
export function continueBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (waiting.delete(incoming)) outgoing.writeContinue()
}
