/** Whether an address is in one of the ranges, each an address or a CIDR block. An invalid address is in none. */
export function addressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const parsed = ranges.flatMap((range) => parseRange(range) ?? [])
  return (address) => {
    const value = parseAddress(address)
    return value !== undefined && parsed.some(({ base, bits }) => value >> bits === base >> bits)
  }
}

/** Whether a text is an address or a range of them. */
export function isAddressRange(text: string): boolean {
  return parseRange(text) !== undefined
}

/** The address block that one client controls: an IPv4 address, or the /64 of an IPv6 address. An invalid address is
 *  returned unchanged. */
export function addressBlock(address: string): string {
  if (!address.includes(':')) return address
  const value = parseAddress(address)
  if (value === undefined) return address
  if (value >> 32n === MAPPED >> 32n) return dotted(Number(value & 0xffff_ffffn))
  return `${(value >> 64n).toString(16)}::`
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')
}

interface Range {
  readonly base: bigint
  /** The number of low bits that may differ. */
  readonly bits: bigint
}

function parseRange(text: string): Range | undefined {
  const [address = '', length, ...rest] = text.split('/')
  const base = parseAddress(address)
  const width = address.includes(':') ? 128 : 32
  if (base === undefined || rest.length > 0) return undefined
  if (length === undefined) return { base, bits: 0n }
  if (!/^\d{1,3}$/.test(length) || Number(length) > width) return undefined
  return { base, bits: BigInt(width - Number(length)) }
}

/** IPv4 addresses are mapped into IPv6 at `::ffff:0:0/96`, so that both spellings are one address. */
const MAPPED = 0xffff_0000_0000n

function parseAddress(text: string): bigint | undefined {
  if (!text.includes(':')) {
    const value = parseV4(text)
    return value === undefined ? undefined : MAPPED + value
  }
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const plain = dotted ? withoutDots(dotted[1] as string, dotted[2] as string) : text
  if (plain === undefined) return undefined
  const [head, rest, ...more] = plain.split('::')
  if (more.length > 0) return undefined
  const left = groups(head as string)
  const right = rest === undefined ? [] : groups(rest)
  if (!left || !right) return undefined
  const missing = 8 - left.length - right.length
  if (rest === undefined ? missing !== 0 : missing < 1) return undefined
  const all = [...left, ...new Array<bigint>(rest === undefined ? 0 : missing).fill(0n), ...right]
  return all.reduce((value, group) => (value << 16n) + group, 0n)
}

/** Rewrites an IPv6 address that ends in IPv4 notation in groups. */
function withoutDots(head: string, tail: string): string | undefined {
  const value = parseV4(tail)
  return value === undefined ? undefined : `${head}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`
}

function groups(text: string): bigint[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  return parts.every((part) => /^[\da-f]{1,4}$/i.test(part)) ? parts.map((part) => BigInt(`0x${part}`)) : undefined
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined
  return parts.reduce((value, part) => (value << 8n) + BigInt(part), 0n)
}
