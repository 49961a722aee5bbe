import type { LookupFunction } from 'node:net'
import { isPrivateAddress } from '../lib/addresses/private-address.ts'
import { addressesOf, answered } from './shared-lookup.node.ts'
import { PrivateAddress } from './transport.ts'

/** A lookup that refuses names of private addresses. The connection is made to what it answers, so that no second answer
 *  of the name's server can lead elsewhere. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  addressesOf(hostname, options, (error, addresses) => {
    if (error) return callback(error, '')
    if (addresses.some(({ address }) => isPrivateAddress(address))) {
      return callback(new PrivateAddress(`'${hostname}' leads into a private network`), '')
    }
    answered(addresses, options, callback)
  })
}
