import { releasing } from '../../../lib/forms/gathering.node.ts'
import type { Incoming } from './messages.node.ts'

/** Receives the rest of a body and discards it, so that the client reads the answer. The memory of each piece is freed at
 *  once: the collector lets tens of megabytes of them accumulate. */
export function discardRest(incoming: Incoming): void {
  incoming.on('data', releasing())
  incoming.resume()
}
