/** The part of a Durable Object's SQLite that is used. Its statements run at once, and what one event has written is
 *  written as a whole. */
export interface SqlStorage {
  exec(statement: string, ...values: readonly (string | number)[]): Iterable<Record<string, unknown>>
}

/** A text that expires. */
export interface Row {
  readonly text: string
  /** Milliseconds since 1970. */
  readonly ends: number
}

/** Texts of any length by name, in SQLite. */
export interface Rows {
  get(name: string): Row | undefined
  put(name: string, row: Row): void
  delete(name: string): void
  /** Removes expired texts, so many at once at most; true: there may be more. */
  sweep(now: number): boolean
}

/** A row holds two megabytes, and a character takes three bytes at most. */
const MOST_CHARACTERS = 600_000

/** The most rows that a sweep removes, since nothing is answered meanwhile: an hour's answers of a busy cache would take
 *  many seconds. */
export const MOST_SWEPT = 100

/** `bySweep`: expired rows are found by an index, which costs a second write for each row; without it all rows are
 *  scanned. */
export function rows(sql: SqlStorage, table: 'kept_record' | 'kept_text', bySweep: 'index' | 'scan'): Rows {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS ${table} (
      name TEXT NOT NULL, part INTEGER NOT NULL, value TEXT NOT NULL, ends INTEGER NOT NULL, PRIMARY KEY (name, part)
    ) WITHOUT ROWID`,
  )
  if (bySweep === 'index') sql.exec(`CREATE INDEX IF NOT EXISTS ${table}_ends ON ${table} (ends)`)
  return {
    get(name) {
      let text = ''
      let ends: number | undefined
      for (const row of sql.exec(`SELECT value, ends FROM ${table} WHERE name = ? ORDER BY part`, name)) {
        text += row.value as string
        ends = row.ends as number
      }
      return ends === undefined ? undefined : { text, ends }
    },
    put(name, { text, ends }) {
      const parts = partsOf(text)
      for (const [part, value] of parts.entries()) {
        sql.exec(
          `INSERT OR REPLACE INTO ${table} (name, part, value, ends) VALUES (?, ?, ?, ?)`,
          name,
          part,
          value,
          ends,
        )
      }
      // Of a longer text before.
      sql.exec(`DELETE FROM ${table} WHERE name = ? AND part >= ?`, name, parts.length)
    },
    delete(name) {
      sql.exec(`DELETE FROM ${table} WHERE name = ?`, name)
    },
    sweep(now) {
      const swept = sql.exec(
        `DELETE FROM ${table} WHERE (name, part) IN (SELECT name, part FROM ${table} WHERE ends <= ? LIMIT ${MOST_SWEPT})
         RETURNING part`,
        now,
      )
      return [...swept].length === MOST_SWEPT
    },
  }
}

/** The parts of a text, at least one. A pair of surrogates stays together: SQLite writes neither half on its own. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let from = 0
  do {
    const full = from + MOST_CHARACTERS
    const to = HIGH_SURROGATE.test(text.charAt(full - 1)) ? full - 1 : full
    parts.push(text.slice(from, to))
    from = to
  } while (from < text.length)
  return parts
}

const HIGH_SURROGATE = /[\ud800-\udbff]/
