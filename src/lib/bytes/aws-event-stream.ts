import { joinBytes } from './bytes.ts'

/** One message of `application/vnd.amazon.eventstream`. */
export interface AwsEvent {
  /** The headers of type string; services send no others with events. */
  readonly headers: Readonly<Record<string, string>>
  readonly payload: Uint8Array
}

/** `damaged`: a message with a wrong checksum, which is left out. `lost`: the length of a message is wrong, so that
 *  nothing after it can be read. */
export type AwsEventOrFault = AwsEvent | 'damaged' | 'lost'

const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4
const LIMIT_BYTES = 16 * 1024 * 1024 + PRELUDE_BYTES + CHECKSUM_BYTES
const STRING = 7
/** The bytes of a header's value by its type; -1 for values that begin with their length. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16]

const decoder = new TextDecoder()

/** Splits a byte stream, cut into pieces anywhere, into messages, and verifies both of their checksums. */
export function awsEventSplitter() {
  /** The bytes of an incomplete message. */
  let rest: Uint8Array[] = []
  let restBytes = 0
  /** The number of bytes that are needed before anything can be read. */
  let neededBytes = PRELUDE_BYTES
  let lost = false

  return function push(piece: Uint8Array): AwsEventOrFault[] {
    if (lost) return []
    rest.push(piece)
    restBytes += piece.byteLength
    if (restBytes < neededBytes) return []
    let bytes = joinBytes(rest)
    neededBytes = PRELUDE_BYTES
    const found: AwsEventOrFault[] = []
    while (bytes.byteLength >= PRELUDE_BYTES) {
      const view = viewOf(bytes)
      const length = view.getUint32(0)
      const headersLength = view.getUint32(4)
      const plausible =
        length <= LIMIT_BYTES && headersLength <= length - PRELUDE_BYTES - CHECKSUM_BYTES && length >= PRELUDE_BYTES
      if (!plausible || view.getUint32(8) !== crc32(bytes.subarray(0, 8))) {
        lost = true
        rest = []
        return [...found, 'lost']
      }
      if (bytes.byteLength < length) {
        neededBytes = length
        break
      }
      found.push(messageOf(bytes.subarray(0, length), headersLength))
      bytes = bytes.subarray(length)
    }
    rest = [bytes]
    restBytes = bytes.byteLength
    return found
  }
}

function messageOf(bytes: Uint8Array, headersLength: number): AwsEvent | 'damaged' {
  const end = bytes.byteLength - CHECKSUM_BYTES
  if (viewOf(bytes).getUint32(end) !== crc32(bytes.subarray(0, end))) return 'damaged'
  const headersEnd = PRELUDE_BYTES + headersLength
  const headers = headersOf(bytes.subarray(PRELUDE_BYTES, headersEnd))
  return headers ? { headers, payload: bytes.subarray(headersEnd, end) } : 'damaged'
}

function headersOf(bytes: Uint8Array): Record<string, string> | undefined {
  const view = viewOf(bytes)
  const headers: Record<string, string> = {}
  let at = 0
  while (at < bytes.byteLength) {
    const nameEnd = at + 1 + view.getUint8(at)
    if (nameEnd >= bytes.byteLength) return undefined
    const type = view.getUint8(nameEnd)
    let valueStart = nameEnd + 1
    let length = VALUE_BYTES[type]
    if (length === undefined) return undefined
    if (length === -1) {
      if (valueStart + 2 > bytes.byteLength) return undefined
      length = view.getUint16(valueStart)
      valueStart += 2
    }
    if (valueStart + length > bytes.byteLength) return undefined
    if (type === STRING) {
      const name = decoder.decode(bytes.subarray(at + 1, nameEnd))
      headers[name] = decoder.decode(bytes.subarray(valueStart, valueStart + length))
    }
    at = valueStart + length
  }
  return headers
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) value = (TABLE[(value ^ byte) & 0xff] as number) ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}
