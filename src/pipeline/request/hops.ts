import { GatewayError } from '../../lib/errors.ts'
import type { Connection } from '../../providers/provider.ts'
import { HOPS_HEADER } from '../../transport/open-headers.ts'

/** Gateways may be chained; more hops than this mean that a deployment leads back to its own gateway. */
const MOST_HOPS = 4

/** Reads the number of gateways that a call has passed, from the header in which each counts itself. Throws
 *  `loop_detected` above the limit, because a deployment that leads back to its own gateway would loop without end. */
export function hopsOf(header: string | undefined): number {
  if (header === undefined) return 0
  const hops = /^\d{1,9}$/.test(header) ? Number(header) : 0
  if (hops < MOST_HOPS) return hops
  const message = `The call has come through ${hops} gateways. A deployment's api_base leads back to the gateway that asks it.`
  throw new GatewayError('loop_detected', message)
}

/** The connection with the hop header, for a call that came through other gateways. */
export function countingHops(connection: Connection, hops: number): Connection {
  if (hops === 0) return connection
  return { ...connection, headers: { ...connection.headers, [HOPS_HEADER]: String(hops + 1) } }
}
