import { RedisRefusal } from '../redis-store.ts'

const [CR, LF] = [13, 10]
const [ARRAY, BULK, INTEGER, TEXT, ERROR] = [42, 36, 58, 43, 45]
const [MINUS, ZERO] = [45, 48]

/** Stands for a reply of which bytes are missing. */
const INCOMPLETE = Symbol('incomplete')
/** Most texts of a reply are one character long. */
const CHARACTERS = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))

/** Takes the bytes of a connection as they come, and keeps none of them. Throws if they are no replies. */
export type ReplyReader = (bytes: Buffer) => void

/** Reads replies in RESP 2: text, integers, null, and arrays of them. An error is a `RedisRefusal`. */
export function replyReader(take: (reply: unknown) => void): ReplyReader {
  let bytes: Buffer = Buffer.alloc(0)
  let at = 0
  /** The beginning of a reply, and how many bytes are missing at least. */
  let held: Buffer[] = []
  let missing = 0

  /** An integer up to the end of its line, or INCOMPLETE. */
  function readInteger(): number | typeof INCOMPLETE {
    const isNegative = bytes[at] === MINUS
    let value = 0
    for (let index = isNegative ? at + 1 : at; index < bytes.length; index++) {
      const byte = bytes[index] as number
      if (byte === CR) {
        if (index + 1 >= bytes.length) return INCOMPLETE
        at = index + 2
        return isNegative ? -value : value
      }
      if (byte < ZERO || byte > ZERO + 9) throw new Error('no digit')
      value = 10 * value + byte - ZERO
    }
    return INCOMPLETE
  }

  function readLine(): string | typeof INCOMPLETE {
    const end = bytes.indexOf(LF, at)
    if (end === -1) return INCOMPLETE
    const line = bytes.toString('utf8', at, end - 1)
    at = end + 1
    return line
  }

  function readBulk(): string | null | typeof INCOMPLETE {
    const length = readInteger()
    if (length === INCOMPLETE) return INCOMPLETE
    if (length < 0) return null
    const start = at
    at += length + 2
    if (at > bytes.length) return INCOMPLETE
    const first = bytes[start] as number
    return length === 1 && first < CHARACTERS.length
      ? (CHARACTERS[first] as string)
      : bytes.toString('utf8', start, at - 2)
  }

  function readArray(): unknown[] | null | typeof INCOMPLETE {
    const length = readInteger()
    if (length === INCOMPLETE) return INCOMPLETE
    if (length < 0) return null
    const items = new Array<unknown>(length)
    for (let index = 0; index < length; index++) {
      const item = readReply()
      if (item === INCOMPLETE) return INCOMPLETE
      items[index] = item
    }
    return items
  }

  function readReply(): unknown {
    if (at >= bytes.length) return INCOMPLETE
    const kind = bytes[at++]
    if (kind === INTEGER) return readInteger()
    if (kind === BULK) return readBulk()
    if (kind === ARRAY) return readArray()
    const line = readLine()
    if (line === INCOMPLETE || kind === TEXT) return line
    if (kind === ERROR) return new RedisRefusal(line)
    throw new Error('no reply')
  }

  return (came) => {
    missing -= came.length
    if (missing > 0) {
      held.push(Buffer.from(came))
      return
    }
    bytes = held.length === 0 ? came : Buffer.concat([...held, came])
    at = 0
    let begins = 0
    while (begins < bytes.length) {
      const reply = readReply()
      if (reply === INCOMPLETE) break
      begins = at
      take(reply)
    }
    held = begins < bytes.length ? [Buffer.from(bytes.subarray(begins))] : []
    // A text that is not whole says where it ends.
    missing = held.length > 0 ? at - bytes.length : 0
  }
}
