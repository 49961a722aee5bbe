/** One statement: text with $1… and its values. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** It comes again and again, and one plan is right for all of its values: an adapter that owns its connection may keep
   *  it. */
  readonly repeated?: boolean
}

export interface Result<Row = Record<string, unknown>> {
  readonly rows: Row[]
  /** Rows inserted, changed or deleted; 0 for a select. */
  readonly affected: number
}

/** The relational store. Postgres over HTTP has no interactive transactions, so every change is one conditional
 *  statement or one batch, never read-then-write. int8 and numeric arrive as strings, json as parsed values, times as
 *  ISO 8601 strings in UTC, the same from every adapter. */
export interface Sql {
  query<Row = Record<string, unknown>>(statement: Statement): Promise<Result<Row>>
  /** All or nothing, in order, in one round trip. */
  batch(statements: readonly Statement[]): Promise<Result[]>
  /** Resolves when the database answers within `timeoutMs`; rejects otherwise. */
  ping(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

/** A failed statement. `code` is the SQLSTATE when the server gave one; the text never holds a connection string. */
export class SqlError extends Error {
  override readonly name = 'SqlError'
  readonly code: string | undefined
  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }

  /** No answer at all, or one that says "not now": no connection, no room, no time, starting up or shutting down. */
  get isAway(): boolean {
    return this.code === undefined || /^(08|53|57P|57014)/.test(this.code)
  }
}
