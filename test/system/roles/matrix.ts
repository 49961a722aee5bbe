import { CALLERS, type CallerName } from './world.ts'

/** A row of the matrix: the status that each caller gets. undefined: there is no such caller for this case. */
export interface Row {
  readonly route: string
  readonly name: string
  readonly statuses: Readonly<Record<CallerName, number | undefined>>
}

/** Reads the matrix: a line for each route, under it a line for each case with a status for each column. Lines that begin
 *  with # say something to the reader. */
export function readMatrix(text: string): Row[] {
  const rows: Row[] = []
  let route = ''
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue
    if (!line.startsWith(' ')) route = line.trim()
    else rows.push(readRow(route, line))
  }
  return rows
}

function readRow(route: string, line: string): Row {
  const [, name, columns] = /^ {2}(\S.*?) {2,}((?:\d{3}|-)(?:[ |]+(?:\d{3}|-))*)$/.exec(line) ?? []
  const cells = columns?.split(/[ |]+/) ?? []
  if (name === undefined || cells.length !== CALLERS.length) throw new Error(`not a row of ${route}: ${line}`)
  const entries = CALLERS.map((caller, index) => [caller, cells[index] === '-' ? undefined : Number(cells[index])])
  return { route, name, statuses: Object.fromEntries(entries) }
}
