import { GatewayError } from '../lib/errors.ts'

/** Names the gateways through which a question to a server of tools has come, each by an id of its own. A gateway is such
 *  a server too, and may be one of its own, or of one that is one of its own. */
export const VIA_HEADER = 'x-gateway-via'
const LONGEST = 1000

/** The header of a question that a gateway passes on. */
export function viaWith(via: string | undefined, gateway: string): string {
  return via === undefined ? gateway : `${via}, ${gateway}`
}

/** Refuses a question that this gateway has asked itself: it would be asked without end. */
export function requireNoLoop(via: string | undefined, gateway: string): void {
  if (via === undefined) return
  if (via.length <= LONGEST && !via.split(/, */).includes(gateway)) return
  throw new GatewayError('loop_detected', 'A server of tools of this gateway leads back to this gateway.')
}
