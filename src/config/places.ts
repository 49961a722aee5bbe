import { isAlias, isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import type { Mistake } from './config-error.ts'

export interface Position {
  readonly line: number
  readonly column: number
}

const PARTS = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g
const SYNTAX = /^line (\d+), column (\d+)$/

/** Finds where a mistake of a file stands, by its path: the key itself, or the nearest one above that is there. */
export function placesIn(yaml: string): (path: string) => Position | undefined {
  const lines = new LineCounter()
  const document = parseDocument(yaml, {
    version: '1.2',
    stringKeys: true,
    merge: true,
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
  })

  function offsetOf(path: string): number | undefined {
    let node: Node | null | undefined = document.contents
    let offset: number | undefined
    for (const [, quoted, index, plain] of path.matchAll(PARTS)) {
      if (isAlias(node)) node = node.resolve(document)
      if (isSeq(node) && index !== undefined) {
        node = node.items[Number(index)] as Node | undefined
        offset = node?.range?.[0] ?? offset
      } else if (isMap(node)) {
        const key = quoted === undefined ? (plain ?? index) : (JSON.parse(`"${quoted}"`) as string)
        const pair = node.items.find((one) => String(one.key) === key)
        if (!pair) return offset
        offset = (pair.key as Node).range?.[0] ?? offset
        node = pair.value as Node | null
      } else return offset
    }
    return offset
  }

  return (path) => {
    const [, line, column] = SYNTAX.exec(path) ?? []
    if (line !== undefined) return { line: Number(line), column: Number(column) }
    const offset = offsetOf(path)
    if (offset === undefined) return undefined
    const place = lines.linePos(offset)
    return { line: place.line, column: place.col }
  }
}

/** A line of text for each mistake of a file, which says where it stands: `line 5: router_settings.timeout: must be a
 *  number`. `yaml` is undefined where there is no file. */
export function linesOf(mistakes: readonly Mistake[], yaml: string | undefined): string[] {
  const placeOf = yaml === undefined ? () => undefined : placesIn(yaml)
  return mistakes.map(({ path, message }) => {
    const place = SYNTAX.test(path) ? undefined : placeOf(path)
    return `${place ? `line ${place.line}: ` : ''}${path}: ${message}`
  })
}
