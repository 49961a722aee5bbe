/** Below this a repeated piece that begins at a word may be meant: "no, no". */
const WORD_REPEAT = 4
/** From here on a repeated piece is no accident, wherever it begins. */
const SURE_REPEAT = 12

const WORD = /[\p{L}\p{N}]/u

/** Joins the text of a second model to what a first one has said. */
export interface Splice {
  /** What is new in these words. Words that may yet turn out to repeat something are held back. */
  take(text: string): string
  /** What was held back and is new after all. */
  end(): string
}

/** A model that is asked to go on may begin again, with all of what was said or with the end of it, and with the blank
 *  that was already said: none of that is heard twice. */
export function splice(said: string): Splice {
  const told = said.trimEnd()
  const blank = said.slice(told.length)
  let held: string | undefined = ''
  let onlyBlank = true
  /** Where the longest repeat could begin that starts as what is held back does. It never moves back: what has come is
   *  looked for once, however many pieces it comes in. */
  let start = 0

  const settle = (text: string): string => {
    const fresh = text.slice(overlap(told, text, (length) => mayBegin(told, told.length - length)))
    return fresh.slice(overlap(blank, fresh, () => true))
  }

  /** Whether what is held back, of which `more` has just come, could be the beginning of a repeat that is longer. */
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
      // A repeat that has just ended may yet be followed by the blank.
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

/** Whether a repeat could begin there in what was told. */
function mayBegin(told: string, start: number): boolean {
  const length = told.length - start
  return start === 0 || length >= SURE_REPEAT || (length >= WORD_REPEAT && atBoundary(told, start))
}

function atBoundary(text: string, at: number): boolean {
  return !(WORD.test(text[at - 1] ?? '') && WORD.test(text[at] ?? ''))
}

/** The longest end of `before` that `after` begins with, of the lengths that count: in one walk over both (Knuth, Morris
 *  and Pratt). */
function overlap(before: string, after: string, counts: (length: number) => boolean): number {
  const most = Math.min(before.length, after.length)
  // Of each beginning of `after`, the longest shorter one that it ends with.
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
