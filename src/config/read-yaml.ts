import { LineCounter, parseDocument, type YAMLError } from 'yaml'
import { type Mistake, pathText } from './config-error.ts'
import { isMap } from './fields.ts'

const MOST_CHARACTERS = 4_000_000
const MOST_VALUES = 200_000
const DEEPEST = 40
const MOST_SYNTAX_MISTAKES = 5

/** Below this key null is a value. Elsewhere an empty value means that the key is left out. */
const VERBATIM = 'default_params'

/** Messages of syntax errors. The parser's own messages quote the file, which may hold secrets. */
const SYNTAX: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  DUPLICATE_KEY: 'this key stands twice in one map; keep one of them',
  BAD_INDENT: 'the indentation does not fit the lines above',
  TAB_AS_INDENT: 'a tab indents this line; use spaces',
  BAD_ALIAS: 'this alias names no anchor',
  MISSING_CHAR: 'a character is missing, such as a closing quote or bracket',
  MULTIPLE_DOCS: 'the file holds more than one document; remove the --- line',
  NON_STRING_KEY: 'a key must be plain text',
  TAG_RESOLVE_FAILED: 'tags (!) are not understood here',
  RESOURCE_EXHAUSTION: 'the file is nested too deeply',
  MULTILINE_IMPLICIT_KEY: 'this key runs over several lines; a colon or a quote may be missing',
  BLOCK_AS_IMPLICIT_KEY: 'a map begins in the middle of a line; put the value in quotes',
}

/** YAML text as a plain tree of maps, lists and scalars, bounded in size and depth. */
export function readYaml(yaml: string): { tree: unknown; mistakes: Mistake[] } {
  const failed = (path: string, message: string) => ({ tree: undefined, mistakes: [{ path, message }] })
  if (yaml.length > MOST_CHARACTERS) return failed('top level', 'the file is larger than 4 MB')
  let parsed: unknown
  try {
    const lines = new LineCounter()
    const document = parseDocument(yaml, {
      version: '1.2',
      stringKeys: true,
      merge: true,
      logLevel: 'error',
      lineCounter: lines,
      // To print a mistake with its line takes the parser as long as all lines before it.
      prettyErrors: false,
    })
    const mistakes = syntaxMistakes([...document.errors, ...document.warnings], lines)
    if (mistakes.length > 0) return { tree: undefined, mistakes }
    parsed = document.toJS({ maxAliasCount: 100 })
  } catch {
    return failed('top level', 'an anchor, alias or merge key (<<) leads nowhere, in a circle, or to too many copies')
  }
  const mistakes: Mistake[] = []
  const tree = plainTree(parsed, mistakes)
  return { tree, mistakes }
}

function syntaxMistakes(errors: readonly YAMLError[], lines: LineCounter): Mistake[] {
  const byLine = new Map<number, Mistake>()
  for (const { code, pos } of errors) {
    const { line, col } = lines.linePos(pos[0])
    // Further errors of a line usually follow from the first.
    if (byLine.has(line)) continue
    byLine.set(line, { path: `line ${line}, column ${col}`, message: SYNTAX[code] ?? 'this is not valid YAML' })
  }
  return [...byLine.values()].slice(0, MOST_SYNTAX_MISTAKES)
}

function plainTree(root: unknown, mistakes: Mistake[]): unknown {
  let values = 0
  let tooLarge = false
  const copy = (value: unknown, path: (string | number)[], verbatim: boolean): unknown => {
    values += 1
    if (tooLarge || values > MOST_VALUES || path.length > DEEPEST) {
      if (!tooLarge) mistakes.push({ path: 'top level', message: 'the file holds too many values or nests too deeply' })
      tooLarge = true
      return undefined
    }
    if (Array.isArray(value)) return value.map((entry, index) => copy(entry, [...path, index], verbatim))
    if (!isMap(value)) return value
    if (Object.getPrototypeOf(value) !== Object.prototype) {
      mistakes.push({ path: pathText(path), message: 'tags (!!) are not understood here; write plain text' })
      return undefined
    }
    const result: Record<string, unknown> = {}
    for (const [key, member] of Object.entries(value)) {
      const at = [...path, key]
      if (key === '__proto__') mistakes.push({ path: pathText(at), message: 'is not a known field; remove it' })
      else if (member !== null || verbatim) result[key] = copy(member, at, verbatim || key === VERBATIM)
    }
    return result
  }
  return copy(root, [], false)
}
