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

  const settle = (text: string): string => {
    const fresh = text.slice(repeated(told, text))
    return fresh.slice(overlap(blank, fresh))
  }
  return {
    take(text) {
      if (held === undefined) return text
      held += text
      if (mayRepeat(told, held) || held.trim() === '') return ''
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

/** How many characters at the beginning of `text` repeat the end of what was told. */
function repeated(told: string, text: string): number {
  for (const start of startsOf(told, text)) {
    const length = told.length - start
    if (text.startsWith(told.slice(start))) return length
  }
  return 0
}

/** Whether `text` could be the beginning of a repeat that is longer than itself. */
function mayRepeat(told: string, text: string): boolean {
  for (const start of startsOf(told, text)) {
    if (told.length - start > text.length && told.startsWith(text, start)) return true
  }
  return false
}

/** Where a repeat that begins as `text` does could begin in what was told, longest first. */
function* startsOf(told: string, text: string): Generator<number> {
  const first = text[0]
  if (first === undefined) return
  for (let start = told.indexOf(first); start !== -1; start = told.indexOf(first, start + 1)) {
    const length = told.length - start
    if (start === 0 || length >= SURE_REPEAT || (length >= WORD_REPEAT && atBoundary(told, start))) yield start
  }
}

function atBoundary(text: string, at: number): boolean {
  return !(WORD.test(text[at - 1] ?? '') && WORD.test(text[at] ?? ''))
}

/** The longest end of `before` that `after` begins with. */
function overlap(before: string, after: string): number {
  for (let length = Math.min(before.length, after.length); length > 0; length--) {
    if (before.endsWith(after.slice(0, length))) return length
  }
  return 0
}
