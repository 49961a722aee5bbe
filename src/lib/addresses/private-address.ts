import { addressMatcher } from './address-range.ts'

/** What is reached from inside of a network only, and what is no address of one machine: RFC 6890 and its kin. */
const inPrivateRange = addressMatcher([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
])

/** Hosts with these endings, or of one label (`http://ollama:11434`), are in the operator's own network. */
const PRIVATE_ENDINGS = ['.localhost', '.local', '.internal', '.lan', '.home.arpa', '.svc', '.test']
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

/** Whether an IP address leads into a private network. */
export function isPrivateAddress(address: string): boolean {
  return inPrivateRange(address)
}

/** Whether the host of a parsed URL is a private address, or a name that only a private network knows. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, '')
  if (host.startsWith('[')) return isPrivateAddress(host.slice(1, -1))
  if (IPV4.test(host)) return isPrivateAddress(host)
  return isPrivateName(host)
}

/** Whether a name of a host in lower case is one that only a private network knows. */
export function isPrivateName(host: string): boolean {
  return !host.includes('.') || PRIVATE_ENDINGS.some((ending) => host.endsWith(ending))
}
