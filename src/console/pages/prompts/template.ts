/** A piece of a text: as it is written, or the place of a variable. */
type Piece = string | { readonly variable: string }

const NAME = '[A-Za-z_][A-Za-z0-9_.-]{0,63}'
/** Backslashes and two braces, with what makes them a placeholder where they are one. */
const BRACES = new RegExp(`(\\\\*)\\{\\{(?:[ \\t]*(${NAME})[ \\t]*\\}\\})?`, 'g')

/** Reads a text as the gateway does, so that variables are seen while one types. Braces that are no placeholder are a
 *  mistake, which is quoted. */
export function readTemplate(text: string): { readonly pieces: readonly Piece[]; readonly wrong?: string } {
  const pieces: Piece[] = []
  let from = 0
  let written = ''
  BRACES.lastIndex = 0
  for (let found = BRACES.exec(text); found; found = BRACES.exec(text)) {
    const [whole, backslashes = '', variable] = found
    written += text.slice(from, found.index) + '\\'.repeat(Math.floor(backslashes.length / 2))
    if (backslashes.length % 2 === 1) {
      written += '{{'
      from = found.index + backslashes.length + 2
    } else if (variable === undefined) {
      return { pieces, wrong: text.slice(found.index, found.index + 24) }
    } else {
      if (written) pieces.push(written)
      pieces.push({ variable })
      written = ''
      from = found.index + whole.length
    }
    BRACES.lastIndex = from
  }
  written += text.slice(from)
  return { pieces: written ? [...pieces, written] : pieces }
}

/** The variables that texts name, in the order in which they do. */
export const namesIn = (texts: readonly string[]): string[] => [
  ...new Set(
    texts.flatMap((text) =>
      readTemplate(text).pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.variable])),
    ),
  ),
]
