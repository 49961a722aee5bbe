import { http1Transport } from './http1/http1.node.ts'
import type { Transport } from './transport.ts'
import { type NodeTransportOptions, undiciTransport } from './undici.node.ts'

/** The transport of Node: plain requests over plain HTTP by a client of its own, which costs a third of undici's; TLS,
 *  uploads and whatever is out of the ordinary by undici. */
export function nodeTransport(options: NodeTransportOptions = {}): Transport & { close(): Promise<void> } {
  const others = undiciTransport(options)
  // Which plain requests a proxy takes is undici's to know.
  if (options.proxied) return others
  const plain = http1Transport(others)
  return {
    send: plain.send,
    async close() {
      await Promise.all([plain.close(), others.close()])
    },
  }
}
