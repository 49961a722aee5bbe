/** Recognizes the chunks of a stream that differ from one of them in their text only. */
export interface AlikeChunks {
  /** The generated characters of the event between `start` and `end`; -1 if it differs in more than its text. */
  charactersIn(text: string, start: number, end: number): number
}

/** Random filler that some vendors add, so that the length of a chunk does not reveal its text. */
const PADDING = 'obfuscation'
const PADDING_OPENING = `"${PADDING}":"`

/** Recognizes chunks like `event`, whose content is `delta`; undefined if the delta is not one plain string. Such chunks
 *  have the same meaning, so they need no parsing. */
export function chunksLike(event: string, delta: Readonly<Record<string, unknown>>): AlikeChunks | undefined {
  // Inside the delta it would be content.
  if (Object.hasOwn(delta, PADDING)) return undefined
  const [name, word] = onlyText(delta) ?? []
  if (name === undefined || word === undefined) return undefined
  const opening = `"${name}":"`
  const at = event.indexOf(opening)
  // With two occurrences it is unclear which one is the delta's.
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

/** Like `startsWith`, but faster: engines compare equal-length strings by machine words. */
function standsAt(at: number, piece: string, text: string): boolean {
  return text.slice(at, at + piece.length) === piece
}

function onlyText(delta: Readonly<Record<string, unknown>>): [string, string] | undefined {
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
