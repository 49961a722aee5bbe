/** Where a member of a top-level JSON object stands in its bytes. */
export interface Member {
  readonly key: string
  /** At the key's opening quote. */
  readonly start: number
  readonly valueStart: number
  readonly valueEnd: number
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The members of the object that UTF-8 `bytes` hold, without building it. undefined for anything but an object with
 *  plain, distinct keys. The values are only delimited, not checked. */
export function membersOf(bytes: Uint8Array): Member[] | undefined {
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== OPEN_BRACE) return undefined
  const members: Member[] = []
  const keys = new Set<string>()
  const view = viewOf(bytes)
  at = skipSpace(bytes, at + 1)
  if (bytes[at] === CLOSE_BRACE) return isSpace(bytes, at + 1) ? members : undefined
  for (;;) {
    const start = at
    if (bytes[start] !== QUOTE) return undefined
    const keyEnd = stringEnd(bytes, view, start)
    const key = textOf(bytes, start + 1, keyEnd - 1)
    if (key.includes('\\') || keys.has(key)) return undefined
    const colon = skipSpace(bytes, keyEnd)
    if (bytes[colon] !== COLON) return undefined
    const valueStart = skipSpace(bytes, colon + 1)
    const valueEnd = endOfValue(bytes, valueStart, view)
    if (valueEnd === valueStart) return undefined
    keys.add(key)
    members.push({ key, start, valueStart, valueEnd })
    at = skipSpace(bytes, valueEnd)
    const separator = bytes[at]
    if (separator === CLOSE_BRACE) return isSpace(bytes, at + 1) ? members : undefined
    if (separator !== COMMA) return undefined
    at = skipSpace(bytes, at + 1)
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && (bytes[at] as number) <= 32) at++
  return at
}

function isSpace(bytes: Uint8Array, from: number): boolean {
  return skipSpace(bytes, from) === bytes.length
}

/** A decoder costs more than a key is long. */
function textOf(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte > 127) return decoder.decode(bytes.subarray(start, end))
    text += String.fromCharCode(byte)
  }
  return text
}

/** Up to here four bytes at a time find a quote sooner than the native search, whose call costs as much. */
const NEAR_BYTES = 48

const EACH = 0x01010101
const TOPS = 0x80808080
const QUOTES = QUOTE * EACH

/** Index behind the closing quote of the string that opens at `from`. */
function stringEnd(bytes: Uint8Array, view: DataView, from: number): number {
  let at = from + 1
  for (;;) {
    at = quoteFrom(bytes, view, at)
    if (at === -1) return bytes.length
    if (bytes[at - 1] !== BACKSLASH) return at + 1
    let before = at - 2
    while (bytes[before] === BACKSLASH) before--
    if ((at - before) % 2 === 1) return at + 1
    at++
  }
}

/** Index of the first quote at or after `from`, -1 when there is none. */
function quoteFrom(bytes: Uint8Array, view: DataView, from: number): number {
  let at = from
  const near = Math.min(at + NEAR_BYTES, bytes.length - 3)
  for (; at < near; at += 4) {
    // A byte that is a quote becomes 0, and of the top bits the lowest that is left tells the first of them.
    const differences = view.getInt32(at, true) ^ QUOTES
    const zeros = (differences - EACH) & ~differences & TOPS
    if (zeros !== 0) return at + ((31 - Math.clz32(zeros & -zeros)) >> 3)
  }
  return bytes.indexOf(QUOTE, at)
}

/** Index behind the value that begins at `from`: by its brackets and strings alone. */
export function endOfValue(bytes: Uint8Array, from: number, view: DataView = viewOf(bytes)): number {
  let depth = 0
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte === QUOTE) {
      at = stringEnd(bytes, view, at)
      if (depth === 0) return at
      continue
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (depth === 0 && (byte === COMMA || byte <= 32)) return at
    at++
  }
  return at
}
