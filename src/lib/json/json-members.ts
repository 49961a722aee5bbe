/** The offsets of a member of a top-level JSON object. */
export interface Member {
  readonly key: string
  /** The offset of the key's opening quote. */
  readonly start: number
  readonly valueStart: number
  readonly valueEnd: number
}

const QUOTE = 34
export const COMMA = 44
const COLON = 58
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** The structural role of a byte outside of a string. */
export const Mark = { none: 0, opens: 1, closes: 2, names: 3, quotes: 4 } as const

/** The mark of each byte: one lookup instead of six comparisons. */
export const MARKS = new Uint8Array(256)
MARKS[OPEN_BRACE] = Mark.opens
MARKS[OPEN_BRACKET] = Mark.opens
MARKS[CLOSE_BRACE] = Mark.closes
MARKS[CLOSE_BRACKET] = Mark.closes
MARKS[COLON] = Mark.names
MARKS[QUOTE] = Mark.quotes

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The members of the JSON object in UTF-8 `bytes`, without building it. undefined for anything but an object with
 *  unescaped, distinct keys. The values are delimited, not validated. */
export function membersOf(bytes: Uint8Array): Member[] | undefined {
  const members: Member[] = []
  const keys = new Set<string>()
  const count = walkMembers(bytes, (key, start, valueStart, valueEnd) => {
    members.push({ key, start, valueStart, valueEnd })
    keys.add(key)
  })
  return count === keys.size ? members : undefined
}

/** How many members the object writes that UTF-8 `bytes` hold, repeated ones included. undefined for anything but an
 *  object with plain keys. */
export function countMembers(bytes: Uint8Array): number | undefined {
  return walkMembers(bytes, undefined)
}

function walkMembers(
  bytes: Uint8Array,
  visit: ((key: string, start: number, valueStart: number, valueEnd: number) => void) | undefined,
): number | undefined {
  let count = 0
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== OPEN_BRACE) return undefined
  const view = viewOf(bytes)
  at = skipSpace(bytes, at + 1)
  if (bytes[at] === CLOSE_BRACE) return isSpace(bytes, at + 1) ? count : undefined
  for (;;) {
    const start = at
    if (bytes[start] !== QUOTE) return undefined
    const keyEnd = stringEnd(bytes, view, start)
    for (let inside = start + 1; inside < keyEnd; inside++) if (bytes[inside] === BACKSLASH) return undefined
    const colon = skipSpace(bytes, keyEnd)
    if (bytes[colon] !== COLON) return undefined
    const valueStart = skipSpace(bytes, colon + 1)
    const valueEnd = endOfValue(bytes, valueStart, view)
    if (valueEnd === valueStart) return undefined
    count += 1
    visit?.(textOf(bytes, start + 1, keyEnd - 1), start, valueStart, valueEnd)
    at = skipSpace(bytes, valueEnd)
    const separator = bytes[at]
    if (separator === CLOSE_BRACE) return isSpace(bytes, at + 1) ? count : undefined
    if (separator !== COMMA) return undefined
    at = skipSpace(bytes, at + 1)
  }
}

/** An escape takes up to six characters for one. */
const LONGEST_ESCAPE = 6

/** The words, of ASCII, that occur as whole strings in a JSON text, escaped or not. */
export function stringsAmong(bytes: Uint8Array, words: ReadonlySet<string>): Set<string> {
  const view = viewOf(bytes)
  const found = new Set<string>()
  const lengths = new Set(Array.from(words, (word) => word.length))
  const longest = Math.max(...lengths)
  for (let at = quoteFrom(bytes, view, 0); at !== -1; at = quoteFrom(bytes, view, at)) {
    const opened = at
    at = stringEnd(bytes, view, opened)
    const length = at - opened - 2
    if (length > LONGEST_ESCAPE * longest) continue
    const isEscaped = hasBackslash(bytes, opened + 1, at - 1)
    if (!isEscaped && !lengths.has(length)) continue
    const text = textOf(bytes, opened + 1, at - 1)
    const word = isEscaped ? unescaped(text) : text
    if (words.has(word) && found.add(word).size === words.size) break
  }
  return found
}

/** A loop, because these strings are short and there may be many. */
function hasBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true
  return false
}

/** '' for an invalid string, which the parser reports later. */
function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    return ''
  }
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
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

/** Decodes a short text: for ASCII a loop costs less than a call of the decoder. */
function textOf(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte > 127) return decoder.decode(bytes.subarray(start, end))
    text += String.fromCharCode(byte)
  }
  return text
}

/** Within this distance comparing four bytes at a time finds a quote faster than a call of the native search. */
const NEAR_BYTES = 48

const EACH = 0x01010101
const TOPS = 0x80808080
const QUOTES = QUOTE * EACH
const COLONS = COLON * EACH
/** A bit that every bracket has, and no digit, space or comma. */
const BRACKETS = 0x40 * EACH

/** The index behind the closing quote of the string that opens at `from`. */
export function stringEnd(bytes: Uint8Array, view: DataView, from: number): number {
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

/** The index of the first quote at or after `from`; -1 if there is none. */
function quoteFrom(bytes: Uint8Array, view: DataView, from: number): number {
  let at = from
  const near = Math.min(at + NEAR_BYTES, bytes.length - 3)
  for (; at < near; at += 4) {
    // A quote becomes a zero byte, and the lowest remaining top bit marks the first one.
    const differences = view.getInt32(at, true) ^ QUOTES
    const zeros = (differences - EACH) & ~differences & TOPS
    if (zeros !== 0) return at + ((31 - Math.clz32(zeros & -zeros)) >> 3)
  }
  return bytes.indexOf(QUOTE, at)
}

/** An index at or before the first mark from `at` on: skips numbers and spaces four bytes at a time. */
export function plainEnd(view: DataView, at: number): number {
  const last = view.byteLength - 4
  let end = at
  while (end <= last) {
    const bytes = view.getInt32(end, true)
    const quotes = bytes ^ QUOTES
    const colons = bytes ^ COLONS
    const zeros = ((quotes - EACH) & ~quotes) | ((colons - EACH) & ~colons)
    if ((zeros & TOPS) !== 0 || (bytes & BRACKETS) !== 0) return end
    end += 4
  }
  return end
}

/** The index behind the value that begins at `from`, found by its brackets and strings. */
export function endOfValue(bytes: Uint8Array, from: number, view: DataView = viewOf(bytes)): number {
  const first = bytes[from]
  if (first === QUOTE) return stringEnd(bytes, view, from)
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfWord(bytes, from)
  let depth = 0
  let at = from
  while (at < bytes.length) {
    const mark = MARKS[bytes[at] as number]
    if (mark === Mark.none) {
      at = plainEnd(view, at + 1)
      continue
    }
    if (mark === Mark.quotes) {
      at = stringEnd(bytes, view, at)
      continue
    }
    at += 1
    if (mark === Mark.opens) depth += 1
    else if (mark === Mark.closes && --depth === 0) return at
  }
  return at
}

/** The index behind a number, true, false or null. */
function endOfWord(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte <= 32 || byte === COMMA || MARKS[byte] !== Mark.none) return at
    at += 1
  }
  return at
}
