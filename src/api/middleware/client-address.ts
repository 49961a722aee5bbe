import { addressMatcher } from '../../lib/addresses/address-range.ts'

/** The client's own address: the peer's, unless the peer is a trusted proxy. Then it is the last address of
 *  X-Forwarded-For that is not a trusted proxy's: the client could have forged those before it. */
export function clientAddress(trustedProxies: readonly string[]): (peer: string, forwardedFor?: string) => string {
  const trusted = addressMatcher(trustedProxies)
  return (peer, forwardedFor) => {
    if (forwardedFor === undefined || trustedProxies.length === 0 || !trusted(peer)) return unmapped(peer)
    const hops = forwardedFor.split(',').flatMap((hop) => withoutPort(hop.trim()) || [])
    return unmapped(hops.findLast((hop) => !trusted(hop)) ?? hops[0] ?? peer)
  }
}

/** On a socket for both families an IPv4 address is written `::ffff:203.0.113.5`; people look for `203.0.113.5`. */
function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address
}

/** Some proxies add the port: `203.0.113.5:50123`, `[2001:db8::5]:50123`. */
function withoutPort(hop: string): string {
  const [, six, four] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(hop) ?? []
  return six ?? four ?? hop
}
