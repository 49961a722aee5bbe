/** A piece of a template's text: written as it stands, or the value of a variable. */
export type Piece = string | { readonly variable: string }

/** The names that variables may have. Records of JavaScript cannot hold one of them. */
export const VARIABLE_NAME = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_.-]{0,63}$/

const PLACEHOLDER = /^\{\{[ \t]*([A-Za-z_][A-Za-z0-9_.-]{0,63})[ \t]*\}\}/
/** The longest placeholder, spaces included. */
const LONGEST = 256

/** The longest part of a text that a mistake quotes. */
const QUOTED = 24

export type ReadText =
  | { readonly pieces: readonly Piece[]; readonly error?: never }
  | { readonly error: string; readonly pieces?: never }

/** Reads the text of a template. `{{name}}` stands for the value of a variable; a backslash before it makes it plain
 *  text, and two backslashes are one backslash before a value. Anything else between two braces is a mistake, so that a
 *  misspelt placeholder is not sent to a model. */
export function readPlaceholders(text: string): ReadText {
  const pieces: Piece[] = []
  let written = ''
  let from = 0
  for (let at = text.indexOf('{{'); at !== -1; at = text.indexOf('{{', from)) {
    let backslashes = 0
    while (at - backslashes > from && text[at - backslashes - 1] === '\\') backslashes += 1
    written += text.slice(from, at - backslashes) + '\\'.repeat(Math.floor(backslashes / 2))
    if (backslashes % 2 === 1) {
      written += '{{'
      from = at + 2
      continue
    }
    const [whole, variable] = PLACEHOLDER.exec(text.slice(at, at + LONGEST)) ?? []
    if (whole === undefined || variable === undefined || !VARIABLE_NAME.test(variable)) {
      return { error: noPlaceholder(text, at) }
    }
    if (written !== '') pieces.push(written)
    pieces.push({ variable })
    written = ''
    from = at + whole.length
  }
  written += text.slice(from)
  if (written !== '') pieces.push(written)
  return { pieces }
}

function noPlaceholder(text: string, at: number): string {
  const quoted = text.slice(at, at + QUOTED)
  const dots = text.length > at + QUOTED ? '…' : ''
  return `has '${quoted}${dots}' at character ${at}, which is no variable; write \\{{ for the two characters themselves`
}
