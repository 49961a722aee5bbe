import { isRecord, parseRecord } from '../../../lib/json/lenient.ts'

/** How many items of an export its answer says were rejected: spans, data points or log records. The answer is JSON or
 *  protobuf, with the same field numbers for each signal; one that cannot be read rejects nothing. */
export function rejectedIn(answer: Uint8Array): number {
  if (answer[0] === OPENING_BRACE) {
    const partial = parseRecord(answer)?.partialSuccess
    if (!isRecord(partial)) return 0
    return counted(partial.rejectedSpans ?? partial.rejectedDataPoints ?? partial.rejectedLogRecords)
  }
  const [partial] = fieldsOf(answer, 1)
  if (!(partial instanceof Uint8Array)) return 0
  return counted(fieldsOf(partial, 1).at(-1))
}

const OPENING_BRACE = 0x7b

function counted(value: unknown): number {
  const count = Number(value)
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}

const VARINT = 0
const LENGTH = 2
/** The widths of the wire types that have one. */
const WIDTHS: Readonly<Record<number, number>> = { 1: 8, 5: 4 }

/** The values of one field of a message, as far as the message can be read. */
function fieldsOf(bytes: Uint8Array, wanted: number): (bigint | Uint8Array)[] {
  const found: (bigint | Uint8Array)[] = []
  let at = 0
  function varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) break
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    // Neither whole nor valid: nothing follows.
    at = bytes.byteLength
    return 0n
  }
  while (at < bytes.byteLength) {
    const tag = Number(varint())
    const isWanted = tag >> 3 === wanted
    const wire = tag & 7
    if (wire === VARINT) {
      const value = varint()
      if (isWanted) found.push(value)
    } else if (wire === LENGTH) {
      const length = Number(varint())
      if (at + length > bytes.byteLength) break
      if (isWanted) found.push(bytes.subarray(at, at + length))
      at += length
    } else {
      const width = WIDTHS[wire]
      if (width === undefined) break
      at += width
    }
  }
  return found
}
