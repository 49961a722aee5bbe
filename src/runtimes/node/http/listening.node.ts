import { once } from 'node:events'
import type { Server } from 'node:net'

/** What a machine says that has no IPv6. */
const WITHOUT_IPV6: ReadonlySet<string | undefined> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])

/** Resolves when a server listens, and rejects if it cannot. `::` is every address of the machine, be it that it has those
 *  of IPv4 alone. */
export async function listening(server: Server, port: number, host: string): Promise<void> {
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    if (host !== '::' || !WITHOUT_IPV6.has((error as NodeJS.ErrnoException).code)) throw error
    await once(server.listen(port, '0.0.0.0'), 'listening')
  }
}
