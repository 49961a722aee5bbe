import type { Server } from 'node:http'
import type { Incoming, Listener } from './messages.node.ts'

/** Requests with `Expect: 100-continue` whose client waits before it sends the body, and what it waits for. */
const waiting = new WeakMap<Incoming, () => void>()

/** Delays `100 Continue` until the body is read: the body of a refused request need not be sent. Any other expectation may
 *  be ignored (RFC 9110); Node would refuse it with an empty answer. */
export function onExpectation(server: Server, listener: Listener): void {
  server.on('checkContinue', (incoming, outgoing) => {
    waiting.set(incoming, () => outgoing.writeContinue())
    listener(incoming, outgoing)
  })
  server.on('checkExpectation', listener)
}

export function expectsContinue(incoming: Incoming): boolean {
  return waiting.has(incoming)
}

/** Sends a delayed `100 Continue`. Call it before a body is read. */
export function continueBody(incoming: Incoming): void {
  const begin = waiting.get(incoming)
  if (!begin) return
  waiting.delete(incoming)
  begin()
}
