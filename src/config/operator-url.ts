import { isPrivateName } from '../lib/addresses/private-address.ts'

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/
const PRIVATE_IPV4 = /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\./
const PRIVATE_IPV6 = /^\[(::1\]|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/

/** The mistake in an address of the configuration; undefined for a valid one. It must be https, or http in a private
 *  network, without credentials, which have fields of their own. */
export function mistakeInOperatorUrl(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'must be an absolute address that begins with https://'
  }
  if (url.username !== '' || url.password !== '') {
    return 'must not hold a user name or password; use the field for credentials'
  }
  if (url.hash !== '') return 'must not have a # part'
  if (url.protocol === 'http:' && !isPrivateHost(url.hostname)) {
    return 'must begin with https://; http:// is for loopback and private hosts'
  }
  return undefined
}

/** Whether http:// may be used: fewer addresses than those that are refused to servers of the outside. */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, '')
  if (IPV4.test(host)) return PRIVATE_IPV4.test(host)
  if (host.startsWith('[')) return PRIVATE_IPV6.test(host)
  return isPrivateName(host)
}
