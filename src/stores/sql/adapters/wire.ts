import { atMost } from '../../../lib/timers/at-most.ts'
import { type Repeated, type Result, type Sql, SqlError, type Statement } from '../sql.ts'
import { decode } from './decode.ts'
import { encode, storable } from './encode.ts'

/** A statement for the server. Every value is text; the server infers its type. */
export interface WireStatement {
  readonly text: string
  readonly values: readonly (string | null)[]
  readonly repeated?: Repeated | undefined
}

/** An answer of the server with its values as text. */
export interface WireResult {
  /** The first word of the command tag: `SELECT`, `INSERT`, … */
  readonly command: string
  readonly rowCount: number | null
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[]
  readonly rows: readonly (readonly (string | null)[])[]
}

/** The part of an adapter that differs: it runs statements with text values at one server, and fails with SqlError.
 *  Values are encoded and decoded above it, the same for all adapters. */
export interface Wire {
  run(statement: WireStatement): Promise<WireResult>
  /** Runs statements in order, in one transaction at read committed, in one round trip. */
  runAll(statements: readonly WireStatement[]): Promise<WireResult[]>
  close(): Promise<void>
}

export function sqlOver(wire: Wire): Sql {
  return {
    async query<Row>(statement: Statement) {
      return decoded<Row>(await wire.run(encoded(statement)))
    },
    async batch(statements) {
      if (statements.length === 0) return []
      return (await wire.runAll(statements.map(encoded))).map((result) => decoded(result))
    },
    async ping(timeoutMs) {
      if (!(await atMost(timeoutMs, wire.run({ text: 'SELECT 1', values: [] })))) throw noAnswer(timeoutMs)
    },
    close: () => wire.close(),
  }
}

function encoded({ sql, parameters, repeated }: Statement): WireStatement {
  // The protocol counts parameters in 16 bits, and one of the drivers overflows silently.
  if (parameters.length > 65_535) throw new SqlError('A statement takes at most 65535 parameters.', '54000')
  return { text: storable(sql), values: parameters.map(encode), repeated }
}

const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

function decoded<Row>({ command, rowCount, fields, rows }: WireResult): Result<Row> {
  return {
    rows: rows.map((row) => {
      const values = fields.map(({ name, dataTypeID }, index) => {
        const text = row[index] ?? null
        return [name, text === null ? null : decode(dataTypeID, text)] as const
      })
      return Object.fromEntries(values) as Row
    }),
    affected: CHANGES.has(command) ? (rowCount ?? 0) : 0,
  }
}

/** The error of a statement without an answer, which may have been run: only idempotent ones may be sent again. */
export function noAnswer(timeoutMs: number): SqlError {
  return new SqlError(`The database did not answer within ${timeoutMs} ms.`)
}

/** An error with the server's SQLSTATE. The message of a data exception quotes the value, which may be anything: it is
 *  removed. */
export function refused(code: string, message: string): SqlError {
  return new SqlError(code.startsWith('22') ? message.replace(/".*"/s, '"…"') : message, code)
}
