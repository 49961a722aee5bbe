import { addressMatcher } from '../../lib/address-range.ts'

/** The client's own address: the peer's, unless that is a proxy that the operator trusts. Then it is the last of
 *  X-Forwarded-For that no trusted proxy has. What stands before it could have been written by anybody. */
export function clientAddress(trustedProxies: readonly string[]): (peer: string, forwardedFor?: string) => string {
  const trusted = addressMatcher(trustedProxies)
  return (peer, forwardedFor) => {
    if (forwardedFor === undefined || trustedProxies.length === 0 || !trusted(peer)) return peer
    const hops = forwardedFor.split(',').flatMap((hop) => withoutPort(hop.trim()) || [])
    return hops.findLast((hop) => !trusted(hop)) ?? hops[0] ?? peer
  }
}

/** Some proxies write the port too: `203.0.113.5:50123`, `[2001:db8::5]:50123`. */
function withoutPort(hop: string): string {
  const [, six, four] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(hop) ?? []
  return six ?? four ?? hop
}
