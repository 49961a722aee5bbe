import { isPrivateHost } from '../../lib/addresses/private-address.ts'
import type { ToolServer } from '../tool-server.ts'
import { failureOf } from './failures.ts'

export interface Address {
  readonly origin: string
  readonly path: string
}

/** Where a server is asked. Throws where its address is in a private network and may not be. Names that lead into one are
 *  refused by the transport, which alone sees what they resolve to. */
export function addressOf(server: ToolServer): Address {
  const url = URL.parse(server.url)
  if (!url) throw failureOf(server, 'refused', 'has an address that is none')
  if (!server.allowPrivate && isPrivateHost(url.hostname)) throw privateAddress(server)
  return { origin: url.origin, path: url.pathname + url.search }
}

export function privateAddress(server: ToolServer) {
  return failureOf(server, 'refused', 'has an address in a private network, and no leave for one (allow_private)')
}
