/** Repeats shorter than this are kept even at a word boundary: "no, no" may be intended. */
const WORD_REPEAT = 4
/** Repeats from this length on are dropped wherever they begin. */
const SURE_REPEAT = 12

const WORD = /[\p{L}\p{N}]/u

/** Joins a second model's text to the text already sent. */
export interface Splice {
  /** Returns the new part of `text`. Text that may turn out to repeat the sent text is held back. */
  take(text: string): string
  /** Returns the held-back text that turned out to be new. */
  end(): string
}

/** A continuing model may repeat all of the sent text, its end, or its trailing whitespace: each repeat is removed. */
export function splice(sent: string): Splice {
  const told = sent.trimEnd()
  const blank = sent.slice(told.length)
  let held: string | undefined = ''
  let onlyBlank = true
  /** The position in the sent text of the longest repeat that starts with the held-back text. It never moves back, so
   *  each piece is searched for once. */
  let start = 0

  const settle = (text: string): string => {
    const fresh = text.slice(overlap(told, text, (length) => mayBegin(told, told.length - length)))
    return fresh.slice(overlap(blank, fresh, () => true))
  }

  /** Whether the held-back text, ending with the new piece `more`, could still grow into a longer repeat. */
  const mayRepeat = (text: string, more: string): boolean => {
    if (start === -1 || text === '') return false
    if (!told.startsWith(more, start + text.length - more.length)) start = told.indexOf(text, start + 1)
    while (start !== -1 && !mayBegin(told, start)) start = told.indexOf(text, start + 1)
    return start !== -1 && told.length - start > text.length
  }
  return {
    take(text) {
      if (held === undefined) return text
      held += text
      onlyBlank &&= text.trim() === ''
      if (mayRepeat(held, text) || onlyBlank) return ''
      const fresh = settle(held)
      // Trailing whitespace may still follow a finished repeat.
      if (fresh === '') return ''
      held = undefined
      return fresh
    },
    end() {
      const rest = held === undefined ? '' : settle(held)
      held = undefined
      return rest
    },
  }
}

/** Whether a repeat may begin at this position of the sent text. */
function mayBegin(told: string, start: number): boolean {
  const length = told.length - start
  return start === 0 || length >= SURE_REPEAT || (length >= WORD_REPEAT && atBoundary(told, start))
}

function atBoundary(text: string, at: number): boolean {
  return !(WORD.test(text[at - 1] ?? '') && WORD.test(text[at] ?? ''))
}

/** The longest suffix of `before` that is a prefix of `after` and whose length counts, in one pass over both (Knuth,
 *  Morris, Pratt). */
function overlap(before: string, after: string, counts: (length: number) => boolean): number {
  const most = Math.min(before.length, after.length)
  // For each prefix of `after`, its longest proper border.
  const shorter = new Int32Array(most + 1)
  shorter[0] = -1
  const grown = (matched: number, letter: number): number => {
    let length = matched
    while (length >= 0 && after.charCodeAt(length) !== letter) length = shorter[length] as number
    return length + 1
  }
  for (let length = 1; length <= most; length++) {
    shorter[length] = grown(shorter[length - 1] as number, after.charCodeAt(length - 1))
  }
  let matched = 0
  for (let at = before.length - most; at < before.length; at++) matched = grown(matched, before.charCodeAt(at))
  while (matched > 0 && !counts(matched)) matched = shorter[matched] as number
  return matched
}
