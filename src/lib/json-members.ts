/** Where a member of a top-level JSON object stands in its text. */
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
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** The members of the object that `text` holds, without building it. undefined for anything but an object with plain,
 *  distinct keys. The values are only delimited, not checked. */
export function membersOf(text: string): Member[] | undefined {
  let at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== OPEN_BRACE) return undefined
  const members: Member[] = []
  const keys = new Set<string>()
  at = skipSpace(text, at + 1)
  if (text.charCodeAt(at) === CLOSE_BRACE) return isSpace(text, at + 1) ? members : undefined
  for (;;) {
    const start = at
    if (text.charCodeAt(start) !== QUOTE) return undefined
    const keyEnd = stringEnd(text, start)
    const key = text.slice(start + 1, keyEnd - 1)
    if (key.includes('\\') || keys.has(key)) return undefined
    const colon = skipSpace(text, keyEnd)
    if (text.charCodeAt(colon) !== COLON) return undefined
    const valueStart = skipSpace(text, colon + 1)
    const valueEnd = endOfValue(text, valueStart)
    if (valueEnd === valueStart) return undefined
    keys.add(key)
    members.push({ key, start, valueStart, valueEnd })
    at = skipSpace(text, valueEnd)
    const separator = text.charCodeAt(at)
    if (separator === CLOSE_BRACE) return isSpace(text, at + 1) ? members : undefined
    if (separator !== COMMA) return undefined
    at = skipSpace(text, at + 1)
  }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) <= 32) at++
  return at
}

function isSpace(text: string, from: number): boolean {
  return skipSpace(text, from) === text.length
}

/** Index behind the closing quote of the string that opens at `from`. */
function stringEnd(text: string, from: number): number {
  let at = text.indexOf('"', from + 1)
  while (at !== -1) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at + 1
    at = text.indexOf('"', at + 1)
  }
  return text.length
}

/** Index behind the value that begins at `from`: by its brackets and strings alone. */
export function endOfValue(text: string, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = stringEnd(text, at)
      if (depth === 0) return at
      continue
    }
    if (code === OPEN_BRACE || code === 91) depth++
    else if (code === CLOSE_BRACE || code === 93) {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (depth === 0 && (code === COMMA || code <= 32)) return at
    at++
  }
  return at
}
