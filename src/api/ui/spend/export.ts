import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import type { Answer } from '../../../pipeline/answer.ts'

/** How a list can be asked for. */
export const FORMATS = ['json', 'csv', 'jsonl'] as const
export type ExportFormat = Exclude<(typeof FORMATS)[number], 'json'>

/** The media types of the files. */
export const FILE_TYPES = ['text/csv', 'application/jsonl']

/** The most rows of a file. */
export const MOST_EXPORTED = 100_000

/** How many rows an answer has that is no file. */
interface Shown {
  readonly usual: number
  readonly most: number
}

/** The field of a query that says how many rows it wants. */
export const rowLimit = ({ usual, most }: Shown) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .max(MOST_EXPORTED)
    .optional()
    .describe(
      `How many rows: ${usual} where it is left out and at most ${most}; of a file all, at most ${MOST_EXPORTED}.`,
    )

/** How many rows to show to a query. Refuses one that wants more than an answer has which is no file. */
export function shownOf(limit: number | undefined, { usual, most }: Shown): number {
  const shown = limit ?? usual
  if (shown > most) throw mistake('limit', `must be at most ${most}`)
  return shown
}

type Row = Readonly<Record<string, unknown>>

const encoder = new TextEncoder()

/** Rows as a file, page by page: each page is read when the client has taken the one before. */
export async function exported(
  format: ExportFormat,
  name: string,
  columns: readonly string[],
  pages: () => AsyncGenerator<readonly Row[]>,
): Promise<Answer> {
  const { contentType, head, line } = fileFormat(format, columns)
  const reading = pages()
  // Read before the answer begins, so that a failure is still answered with its status.
  let next: IteratorResult<readonly Row[]> | undefined = await reading.next()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (head !== '') controller.enqueue(encoder.encode(head))
    },
    async pull(controller) {
      const { done, value } = next ?? (await reading.next())
      next = undefined
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value.map(line).join('')))
    },
    async cancel() {
      await reading.return(undefined)
    },
  })
  return {
    status: 200,
    headers: { 'content-type': contentType, 'content-disposition': `attachment; filename="${name}.${format}"` },
    body,
  }
}

interface FileFormat {
  readonly contentType: string
  /** The text before the rows. */
  readonly head: string
  line(row: Row): string
}

/** How rows are written into a file. */
export function fileFormat(format: ExportFormat, columns: readonly string[]): FileFormat {
  return format === 'csv' ? csv(columns) : jsonLines
}

const jsonLines: FileFormat = {
  contentType: 'application/jsonl',
  head: '',
  line: (row) => `${JSON.stringify(row)}\n`,
}

function csv(columns: readonly string[]): FileFormat {
  return {
    contentType: 'text/csv; charset=utf-8',
    head: `${columns.join(',')}\r\n`,
    line: (row) => `${columns.map((column) => cell(row[column])).join(',')}\r\n`,
  }
}

/** How a formula begins: some spreadsheets pass over spaces before it, and read wide signs as the usual ones. */
const FORMULA = /^(\s*[=+\-@＝＋－＠]|[\t\r\n])/

/** A cell of CSV. A text that a spreadsheet would run as a formula gets an apostrophe before it. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = Array.isArray(value)
    ? value.join(' ')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
