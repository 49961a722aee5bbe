/** The chunks of a stream that differ from one of them in their words only. */
export interface AlikeChunks {
  /** How many characters the event says that stands there in a text; -1 where it is not one of them. */
  charactersIn(text: string, start: number, end: number): number
}

/** What some vendors fill their chunks up with, so that their length tells nobody the word. */
const PADDING = 'obfuscation'
const PADDING_OPENING = `"${PADDING}":"`

/** The chunks like the one that `event` is, of which `delta` is all that it says; undefined where that is not one plain
 *  string. Whatever is alike means the same, so that nobody needs to parse it. */
export function chunksLike(event: string, delta: Readonly<Record<string, unknown>>): AlikeChunks | undefined {
  // Inside of the delta it would be words.
  if (Object.hasOwn(delta, PADDING)) return undefined
  const [name, word] = theOnlyWords(delta) ?? []
  if (name === undefined || word === undefined) return undefined
  const opening = `"${name}":"`
  const at = event.indexOf(opening)
  // A second one might be the one that was meant.
  if (at === -1 || event.indexOf(opening, at + 1) !== -1) return undefined
  const from = at + opening.length
  const to = event.indexOf('"', from)
  if (event.slice(from, to) !== word || !isPlain(event, from, to)) return undefined
  const head = event.slice(0, from)
  const padding = event.indexOf(PADDING_OPENING, to)
  if (padding === -1) return alike(head, event.slice(to), undefined)
  const padded = padding + PADDING_OPENING.length
  const closing = event.indexOf('"', padded)
  return closing === -1 || !isPlain(event, padded, closing)
    ? undefined
    : alike(head, event.slice(to, padded), event.slice(closing))
}

function alike(head: string, rest: string, tail: string | undefined): AlikeChunks {
  return {
    charactersIn(text, start, end) {
      if (!standsAt(start, head, text)) return -1
      const from = start + head.length
      const to = text.indexOf('"', from)
      if (to === -1 || !standsAt(to, rest, text) || !isPlain(text, from, to)) return -1
      const after = to + rest.length
      if (tail === undefined) return after === end ? to - from : -1
      const closing = text.indexOf('"', after)
      const whole = closing !== -1 && closing + tail.length === end && standsAt(closing, tail, text)
      return whole && isPlain(text, after, closing) ? to - from : -1
    },
  }
}

/** As `startsWith`, which optimised code does letter by letter, while equality compares words of memory. */
function standsAt(at: number, piece: string, text: string): boolean {
  return text.slice(at, at + piece.length) === piece
}

function theOnlyWords(delta: Readonly<Record<string, unknown>>): [string, string] | undefined {
  let found: [string, string] | undefined
  for (const name in delta) {
    const value = delta[name]
    if (name === 'role' || value === null || value === '') continue
    if (found || typeof value !== 'string') return undefined
    found = [name, value]
  }
  return found
}

/** Whether every character of a piece of a JSON string stands for itself. */
function isPlain(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code < 32 || code === 92) return false
  }
  return true
}
