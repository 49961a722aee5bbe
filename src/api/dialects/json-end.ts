/** Finds the end of a JSON object that arrives in pieces, reading each character once. */
export interface JsonEnd {
  push(piece: string): void
  readonly closed: boolean
}

export function jsonEnd(): JsonEnd {
  let depth = 0
  let begun = false
  let quoted = false
  let escaped = false
  return {
    push(piece) {
      for (let at = 0; at < piece.length; at++) {
        const letter = piece[at]
        if (escaped) escaped = false
        else if (quoted && letter === '\\') escaped = true
        else if (letter === '"') quoted = !quoted
        else if (quoted) continue
        else if (letter === '{' || letter === '[') {
          depth += 1
          begun ||= letter === '{'
        } else if (letter === '}' || letter === ']') depth -= 1
      }
    },
    get closed() {
      return begun && depth === 0
    },
  }
}
