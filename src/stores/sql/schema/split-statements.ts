const string = String.raw`[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'`
const name = String.raw`"(?:[^"]|"")*"|[A-Za-z_\x80-\uffff][\w$\x80-\uffff]*`
const dollarTag = String.raw`\$(?:[A-Za-z_\x80-\uffff][\w\x80-\uffff]*)?\$`

// Tokens that may hold a semicolon come first. An escape string (E'…') may hold \', a dollar quote ends at its own tag,
// and a $ inside a name opens no quote.
const token = new RegExp(
  String.raw`(?<line>--[^\n]*)|(?<comment>/\*)|${string}|(?<tag>${dollarTag})|${name}|(?<end>;)|(?<space>\s)|.`,
  'gs',
)

/** The statements of a text, without their semicolons; comments between them are dropped, those within them stay. */
export function splitStatements(text: string): string[] {
  const statements: string[] = []
  let start = 0
  let empty = true
  const finish = (end: number) => {
    if (!empty) statements.push(text.slice(start, end).trim())
    empty = true
  }
  token.lastIndex = 0
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const { line, comment, tag, end, space } = match.groups ?? {}
    if (end) {
      finish(match.index)
    } else if (comment) {
      token.lastIndex = endOfComment(text, match.index)
    } else if (tag) {
      token.lastIndex = endOf(text, tag, match.index + tag.length)
    }
    const isContent = !(line || comment || end || space)
    if (isContent && empty) {
      start = match.index
      empty = false
    }
  }
  finish(text.length)
  return statements
}

function endOf(text: string, tag: string, from: number): number {
  const at = text.indexOf(tag, from)
  if (at === -1) throw new SyntaxError(`A quote that begins with ${tag} has no end.`)
  return at + tag.length
}

/** Block comments nest. */
function endOfComment(text: string, from: number): number {
  let depth = 0
  const edge = /\/\*|\*\//g
  edge.lastIndex = from
  for (let match = edge.exec(text); match; match = edge.exec(text)) {
    depth += match[0] === '/*' ? 1 : -1
    if (depth === 0) return edge.lastIndex
  }
  throw new SyntaxError('A comment has no end.')
}
