import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

type Told = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/** Who waits for the addresses of a name. */
const waiting = new Map<string, Told[]>()

/** Finds the addresses of a name, once for all who want them at the same time. Few lookups run at once in a process, so that
 *  a name whose servers are silent would otherwise keep the calls of every other name waiting. */
export function addressesOf(hostname: string, options: LookupOptions, told: Told): void {
  const { family = 0, hints = 0 } = options
  const key = `${family} ${hints} ${hostname}`
  const others = waiting.get(key)
  if (others) {
    others.push(told)
    return
  }
  const all = [told]
  waiting.set(key, all)
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    waiting.delete(key)
    for (const each of all) each(error, addresses)
  })
}

/** A lookup for connections. */
export const sharedLookup: LookupFunction = (hostname, options, callback) => {
  addressesOf(hostname, options, (error, addresses) => {
    if (error) callback(error, '')
    else answered(addresses, options, callback)
  })
}

/** How long a connection waits for one address of a name before it tries the next. Node's quarter of a second gives up one
 *  that is far away, or whose answer a busy process has yet to read; and if the others are dead, the whole connection. */
export const ADDRESS_MS = 1000

/** Tells a connection as many addresses as it asked for. */
export function answered(
  addresses: LookupAddress[],
  { all }: LookupOptions,
  callback: Parameters<LookupFunction>[2],
): void {
  const [first] = addresses
  if (all) callback(null, addresses)
  else callback(null, first?.address ?? '', first?.family ?? 0)
}
