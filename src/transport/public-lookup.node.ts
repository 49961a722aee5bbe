import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isPrivateAddress } from '../lib/addresses/private-address.ts'
import { PrivateAddress } from './transport.ts'

/** A lookup that refuses names of private addresses. The connection is made to what it answers, so that no second answer
 *  of the name's server can lead elsewhere. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, '')
    if (addresses.some(({ address }) => isPrivateAddress(address))) {
      return callback(new PrivateAddress(`'${hostname}' leads into a private network`), '')
    }
    if (options.all) return callback(null, addresses)
    const [first] = addresses
    callback(null, first?.address ?? '', first?.family ?? 0)
  })
}
