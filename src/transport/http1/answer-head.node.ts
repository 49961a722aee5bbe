/** What an upstream sent is no answer, or two readers could understand it differently. The message holds nothing of it. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer'
}

/** By lower-case names; a repeated header is joined by a comma. */
export type Fields = Record<string, string>

/** How an answer ends, and what becomes of its connection. */
export interface Framing {
  /** The length of the body: infinite where the end of the connection ends it; undefined where it comes in chunks. */
  readonly length: number | undefined
  /** Whether another request may follow, and after how many seconds no more, if the upstream says that. */
  readonly kept: { readonly seconds: number | undefined } | undefined
}

const FIRST_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i
const KEEP_ALIVE = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i
const SECONDS = /(?:^|[,;])[\t ]*timeout=(\d{1,9})/i

const [TAB, BLANK, COLON] = [9, 32, 58]
/** Where a byte may stand: a bit for names of headers, and one for values. */
const [IN_NAMES, IN_VALUES] = [1, 2]
const PLACES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte)
  const inNames = /[!#$%&'*+\-.^_`|~\dA-Za-z]/.test(letter) ? IN_NAMES : 0
  return inNames | (/[\t\x20-\x7e\x80-\xff]/.test(letter) ? IN_VALUES : 0)
})

const KNOWN_NAMES = 256
/** Names that answers had, each at the place that its bytes add up to. */
const knownNames = Array.from<{ readonly bytes: Uint8Array; readonly name: string } | undefined>({
  length: KNOWN_NAMES,
})

/** How most answers begin. */
const [FINE_LINE, FINE] = ['HTTP/1.1 200 OK', { old: false, status: 200 }]

export function firstLine(line: string): { readonly old: boolean; readonly status: number } {
  if (line === FINE_LINE) return FINE
  const [, minor, status] = FIRST_LINE.exec(line) ?? []
  if (status === undefined || status === '101') throw new BrokenAnswer('the first line is none')
  return { old: minor === '0', status: Number(status) }
}

/** Adds the header of the line between two places, behind which its end stands. */
export function addField(fields: Fields, bytes: Buffer, start: number, end: number): void {
  let colon = start
  let hash = 0
  for (; mayStand(bytes[colon], IN_NAMES); colon += 1) hash = (hash * 31 + (bytes[colon] as number)) | 0
  let from = colon + 1
  while (isBlank(bytes[from])) from += 1
  let to = from
  while (mayStand(bytes[to], IN_VALUES)) to += 1
  if (colon === start || bytes[colon] !== COLON || to !== end) throw new BrokenAnswer('a header is malformed')
  while (to > from && isBlank(bytes[to - 1])) to -= 1
  const name = nameOf(bytes, start, colon, hash)
  const value = bytes.toString('latin1', from, to)
  fields[name] = Object.hasOwn(fields, name) ? `${fields[name]}, ${value}` : value
}

/** The lower-case name of a header: one that came before is not made again, nor looked up among all strings. */
function nameOf(bytes: Buffer, start: number, end: number, hash: number): string {
  const slot = hash & (KNOWN_NAMES - 1)
  const known = knownNames[slot]
  if (known && isAt(bytes, start, end, known.bytes)) return known.name
  const name = bytes.toString('latin1', start, end).toLowerCase()
  knownNames[slot] = { bytes: Uint8Array.from(bytes.subarray(start, end)), name }
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

/** Throws BrokenAnswer where two readers could find different ends of the answer. */
export function framingOf(status: number, old: boolean, headers: Fields): Framing {
  const { connection = '', 'content-length': length, 'transfer-encoding': codings } = headers
  if (length !== undefined && (codings !== undefined || !/^\d{1,15}$/.test(length)))
    throw new BrokenAnswer('the length is ambiguous')
  const persists = connection === 'keep-alive' || (!CLOSE.test(connection) && (!old || KEEP_ALIVE.test(connection)))
  const seconds = SECONDS.exec(headers['keep-alive'] ?? '')?.[1]
  const kept = persists ? { seconds: seconds === undefined ? undefined : Number(seconds) } : undefined
  // The body that some upstreams send all the same must not be taken for the next answer.
  if (status === 204 || status === 304) return { length: 0, kept: codings || Number(length) > 0 ? undefined : kept }
  if (length !== undefined) return { length: Number(length), kept }
  if (!codings || !/(?:^|,)[\t ]*chunked$/i.test(codings)) return { length: Number.POSITIVE_INFINITY, kept: undefined }
  // Chunks in chunks and chunks of HTTP/1.0 are known from attacks.
  return { length: undefined, kept: old || /chunked.*chunked/i.test(codings) ? undefined : kept }
}
