import { HEADER_NAME, HEADER_VALUE } from '../../lib/bytes/header-text.ts'

/** Headers by their lower-case names; a repeated one is joined by a comma. */
export type HeaderFields = Record<string, string>

const [TAB, BLANK, COLON] = [9, 32, 58]
/** Where a byte may stand: a bit for names of headers, and one for values. */
const [IN_NAMES, IN_VALUES] = [1, 2]
const PLACES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte)
  return (HEADER_NAME.test(letter) ? IN_NAMES : 0) | (HEADER_VALUE.test(letter) ? IN_VALUES : 0)
})

const KNOWN_NAMES = 256
const LONGEST_KNOWN_NAME = 64
/** Names that came before, each at the place that its bytes add up to. */
const knownNames = Array.from<{ readonly bytes: Uint8Array; readonly name: string } | undefined>({
  length: KNOWN_NAMES,
})

/** Adds the header of the line between two places, behind which its end stands, unless it is malformed. */
export function addField(
  fields: HeaderFields,
  bytes: Buffer,
  start: number,
  end: number,
): 'new' | 'repeated' | 'malformed' {
  let colon = start
  let hash = 0
  for (; mayStand(bytes[colon], IN_NAMES); colon += 1) hash = (hash * 31 + (bytes[colon] as number)) | 0
  let from = colon + 1
  while (isBlank(bytes[from])) from += 1
  let to = from
  while (mayStand(bytes[to], IN_VALUES)) to += 1
  if (colon === start || bytes[colon] !== COLON || to !== end) return 'malformed'
  while (to > from && isBlank(bytes[to - 1])) to -= 1
  const name = nameOf(bytes, start, colon, hash)
  const value = bytes.toString('latin1', from, to)
  const isRepeated = Object.hasOwn(fields, name)
  fields[name] = isRepeated ? `${fields[name]}, ${value}` : value
  return isRepeated ? 'repeated' : 'new'
}

/** The lower-case name of a header: one that came before is not made again, nor looked up among all strings. */
function nameOf(bytes: Buffer, start: number, end: number, hash: number): string {
  const slot = hash & (KNOWN_NAMES - 1)
  const known = knownNames[slot]
  if (known && isAt(bytes, start, end, known.bytes)) return known.name
  const name = bytes.toString('latin1', start, end).toLowerCase()
  if (name.length <= LONGEST_KNOWN_NAME) knownNames[slot] = { bytes: Uint8Array.from(bytes.subarray(start, end)), name }
  return name
}

function isAt(bytes: Buffer, start: number, end: number, same: Uint8Array): boolean {
  if (same.length !== end - start) return false
  for (let at = 0; at < same.length; at++) if (same[at] !== bytes[start + at]) return false
  return true
}

function mayStand(byte: number | undefined, where: number): boolean {
  return ((PLACES[byte as number] as number) & where) !== 0
}

function isBlank(byte: number | undefined): boolean {
  return byte === BLANK || byte === TAB
}
