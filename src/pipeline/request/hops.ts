import { GatewayError } from '../../lib/errors.ts'
import { HOPS_HEADER } from '../../transport/open-headers.ts'
import type { UpstreamRequest } from '../../transport/transport.ts'

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

/** The request with the hop header, for a call that came through other gateways. */
export function countingHops(request: UpstreamRequest, hops: number): UpstreamRequest {
  if (hops === 0) return request
  return { ...request, headers: { ...request.headers, [HOPS_HEADER]: String(hops + 1) } }
}
