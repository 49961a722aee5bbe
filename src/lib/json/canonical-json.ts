const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y
/** A double is exact for as many digits. */
const EXACT_CHARACTERS = 15

const BACKSLASH = 92

/** One form for all texts of the same JSON object: without space, members in order of their names, strings and numbers
 *  written in one way. What parsers read differently stays different: repeated members, and numbers beyond the precision
 *  of a double. Members at the paths in `leftOut` (`model`, `metadata.cache`) are left out, and an outermost object in
 *  which nothing else was. undefined for what is no JSON object. */
export function canonicalJson(text: string, leftOut: ReadonlySet<string>): string | undefined {
  let at = 0

  function space(): void {
    while (text.charCodeAt(at) <= 32) at += 1
  }

  function taken(pattern: RegExp): string {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found === undefined) throw new SyntaxError()
    at += found.length
    return found
  }

  function expect(character: string): void {
    if (text[at] !== character) throw new SyntaxError()
    at += 1
  }

  function string(): string {
    const from = at
    expect('"')
    for (;;) {
      const quote = text.indexOf('"', at)
      if (quote === -1) throw new SyntaxError()
      let before = quote - 1
      while (text.charCodeAt(before) === BACKSLASH) before -= 1
      at = quote + 1
      if ((quote - before) % 2 === 1) break
    }
    const written = text.slice(from, at)
    return written.includes('\\') ? JSON.stringify(JSON.parse(written)) : written
  }

  function number(): string {
    const written = taken(NUMBER)
    const isExact = written.length <= EXACT_CHARACTERS && !/e/i.test(written)
    return isExact ? String(Number(written)) : written
  }

  function list(): string {
    const items: string[] = []
    for (expect('['), space(); text[at] !== ']'; space()) {
      if (items.length > 0) expect(',')
      items.push(value(undefined))
    }
    at += 1
    return `[${items.join(',')}]`
  }

  /** '' if everything in it was left out. `path` is that of its members, undefined below the second level. */
  function object(path: string | undefined): string {
    const members: (readonly [string, string])[] = []
    let seen = 0
    for (expect('{'), space(); text[at] !== '}'; space()) {
      if (seen > 0) {
        expect(',')
        space()
      }
      seen += 1
      const name = string()
      space()
      expect(':')
      const way = path === undefined ? undefined : path + String(JSON.parse(name))
      const written = value(path === '' ? `${way}.` : undefined)
      if (written !== '' && (way === undefined || !leftOut.has(way))) members.push([name, written])
    }
    at += 1
    if (members.length === 0 && seen > 0) return ''
    members.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    return `{${members.map(([name, written]) => `${name}:${written}`).join(',')}}`
  }

  function value(path: string | undefined): string {
    space()
    const first = text[at]
    if (first === '"') return string()
    if (first === '{') return object(path)
    if (first === '[') return list()
    return first === 't' || first === 'f' || first === 'n' ? taken(WORD) : number()
  }

  try {
    space()
    if (text[at] !== '{') return undefined
    const written = object('')
    space()
    return at === text.length ? written : undefined
  } catch {
    return undefined
  }
}
