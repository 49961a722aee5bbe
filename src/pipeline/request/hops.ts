import { GatewayError } from '../../lib/errors.ts'
import type { Connection } from '../../providers/provider.ts'
import { HOPS_HEADER } from '../../transport/open-headers.ts'

/** A gateway behind a gateway is somebody's wish, and one more may be; more than that is a deployment that leads back. */
const MOST_HOPS = 4

/** How many gateways a call has come through, from the header in which each counts itself. Throws where a deployment that
 *  leads back to its own gateway would ask itself without end. */
export function hopsOf(header: string | undefined): number {
  if (header === undefined) return 0
  const hops = /^\d{1,9}$/.test(header) ? Number(header) : 0
  if (hops < MOST_HOPS) return hops
  const message = `The call has come through ${hops} gateways. A deployment's api_base leads back to the gateway that asks it.`
  throw new GatewayError('loop_detected', message)
}

/** The connection of a call that has come through other gateways. */
export function countingHops(connection: Connection, hops: number): Connection {
  if (hops === 0) return connection
  return { ...connection, headers: { ...connection.headers, [HOPS_HEADER]: String(hops + 1) } }
}
