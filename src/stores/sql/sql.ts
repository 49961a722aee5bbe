/** One statement: text with $1… and its parameters. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** The statement is run often, and one plan suits all of its parameters: an adapter with its own connections may keep
   *  the plan, however many rows the tables get, or in an embedded database only. */
  readonly repeated?: Repeated | undefined
}

export type Repeated = 'at any size' | 'embedded'

export interface Result<Row = Record<string, unknown>> {
  readonly rows: Row[]
  /** Rows inserted, changed or deleted; 0 for a select. */
  readonly affected: number
}

/** The relational store. Postgres over HTTP has no interactive transactions, so every change is one conditional
 *  statement or one batch, never read-then-write. Every adapter returns int8 and numeric as strings, json as parsed
 *  values, and times as ISO 8601 strings in UTC. */
export interface Sql {
  query<Row = Record<string, unknown>>(statement: Statement): Promise<Result<Row>>
  /** Runs statements atomically and in order, in one round trip. */
  batch(statements: readonly Statement[]): Promise<Result[]>
  /** Resolves when the database answers within `timeoutMs`; rejects otherwise. */
  ping(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

/** Why there is no connection to a server without TLS. */
export const NO_TLS = 'NO_TLS'

/** SQLSTATE read_only_sql_transaction. */
export const READ_ONLY = '25006'
/** SQLSTATE unique_violation. */
export const UNIQUE_VIOLATION = '23505'

/** A failed statement. `code` is the SQLSTATE if the server sent one; `unconnected` says why there is no connection, if
 *  that is known: an error code of the network or of its TLS. The message never holds a connection string. */
export class SqlError extends Error {
  override readonly name = 'SqlError'
  readonly code: string | undefined
  readonly unconnected: string | undefined
  constructor(message: string, code?: string, unconnected?: string) {
    super(message)
    this.code = code
    this.unconnected = unconnected
  }

  /** The database did not answer, or is temporarily unable to: no connection, no resources, a timeout, a start or a
   *  stop, a refused login, a failing disk, an error inside of the server, or a standby that takes no writes. */
  get isAway(): boolean {
    return this.code === undefined || this.code === READ_ONLY || /^(08|28|53|57P|57014|58|XX)/.test(this.code)
  }
}
