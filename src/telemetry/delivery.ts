import type { Sql } from '../stores/sql/sql.ts'

/** A kind of record that is written beside requests, many in one statement. */
export interface Topic<Entry extends object = object> {
  readonly name: string
  /** Writes entries that may have been written before: each carries its own id, and a second time changes nothing. What
   *  travels through a queue has become JSON on its way. */
  write(sql: Sql, entries: readonly Entry[]): Promise<void>
}

/** The way of records to the database. Nobody waits for it and nobody hears of its troubles: a database that is away
 *  costs no request anything. */
export interface Delivery {
  deliver<Entry extends object>(topic: Topic<Entry>, entry: Entry): void
  /** How many entries of a topic wait in this process. */
  depth(topic: string): number
  /** Writes what was handed over so far, for as long as `limitMs`. Resolves with how many are still not written. */
  drain(limitMs: number): Promise<number>
}
