import type { Answered } from './observing.ts'

/** What became of a client at one kind of provider. */
export interface Cell {
  readonly works: boolean
  /** The hints of the client that its provider was not told. */
  readonly dropped: readonly string[]
  /** The first sentence with which a call was refused. */
  readonly refusal?: string
}

/** The clients, each with what became of it at the kinds of providers. */
export type Matrix = readonly {
  readonly name: string
  readonly version: string
  readonly cells: Readonly<Record<string, Cell>>
}[]

export function cellOf(works: boolean, answers: readonly Answered[]): Cell {
  const refusal = answers.find((one) => one.refusal !== undefined)?.refusal
  return {
    works,
    dropped: [...new Set(answers.flatMap((one) => one.dropped))].sort(),
    ...(refusal === undefined ? {} : { refusal }),
  }
}

/** A row for each client, a column for each kind of provider. */
export function tableOf(matrix: Matrix, vendors: readonly string[]): string {
  const rows = matrix.map(({ name, version, cells }) => [
    `${name} ${version}`,
    ...vendors.map((vendor) => wordOf(cells[vendor])),
  ])
  const heads = ['', ...vendors.map((vendor) => `\`${vendor}\``)]
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function wordOf(cell: Cell | undefined): string {
  if (!cell) return ''
  return cell.works ? 'works' : `refused: ${cell.refusal ?? 'no answer'}`
}

/** What the providers of each client are not told. */
export function droppedOf(matrix: Matrix, vendors: readonly string[]): string {
  const rows = matrix.flatMap(({ name, cells }) => {
    const byFields = new Map<string, string[]>()
    for (const vendor of vendors) {
      const fields = (cells[vendor]?.dropped ?? []).map((field) => `\`${field}\``).join(', ')
      if (fields !== '') byFields.set(fields, [...(byFields.get(fields) ?? []), `\`${vendor}\``])
    }
    return [...byFields].map(([fields, at]) => [name, at.join(', '), fields])
  })
  const heads = ['', 'At', 'What is left out']
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
