/** Where a member of a top-level JSON object stands in its text. */
export interface Member {
  readonly key: string
  /** At the key's opening quote. */
  readonly start: number
  readonly valueStart: number
  readonly valueEnd: number
}

const QUOTE = 34
const BACKSLASH = 92

/** The members of the object that `text` holds, without building it. Expects text that JSON.parse accepts; undefined
 *  when it is not an object or a key is written with escapes. */
export function membersOf(text: string): Member[] | undefined {
  let at = skipSpace(text, 0)
  if (text[at] !== '{') return undefined
  const members: Member[] = []
  at = skipSpace(text, at + 1)
  while (at < text.length && text[at] !== '}') {
    const start = at
    const keyEnd = stringEnd(text, at)
    const key = text.slice(start + 1, keyEnd - 1)
    if (key.includes('\\')) return undefined
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const valueEnd = endOfValue(text, valueStart)
    members.push({ key, start, valueStart, valueEnd })
    at = skipSpace(text, valueEnd)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return members
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) <= 32) at++
  return at
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

function endOfValue(text: string, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = stringEnd(text, at)
      if (depth === 0) return at
      continue
    }
    if (code === 123 || code === 91) depth++
    else if (code === 125 || code === 93) {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (depth === 0 && (code === 44 || code <= 32)) return at
    at++
  }
  return at
}
