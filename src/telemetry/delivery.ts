import type { Sql } from '../stores/sql/sql.ts'

/** A kind of record that is written beside requests, many in one statement. */
export interface Topic<Entry extends object = object> {
  readonly name: string
  /** Writes entries, which may have been written before: each has an id, and writing it again changes nothing. Entries from
   *  a queue or a file were JSON, perhaps of an older build. */
  write(sql: Sql, entries: readonly Entry[]): Promise<void>
  /** How entries without space are added up. Without it they are dropped. */
  readonly folding?: Folding<Entry>
}

/** Adds entries up, so that any number of them fits into memory; only their detail is lost. */
export interface Folding<Entry extends object = object> {
  /** Of what comes of it. */
  readonly topic: Topic
  begin(): RecordFold<Entry>
  /** One entry that the database refuses, as an entry of the topic whose id is made of its own: adding it up twice is the
   *  same as once. */
  alone(entry: Entry): object
}

/** Only entries without an earlier attempt to write them may be added: others may have been written already. */
export interface RecordFold<Entry extends object = object> {
  readonly entries: number
  add(entry: Entry): void
  /** Everything that was added, as entries of the folding's topic. Nothing may be added any more. */
  end(): readonly object[]
}

/** Delivers records to the database in the background. No request waits for it or fails because of it, even while the
 *  database is away. */
export interface Delivery {
  deliver<Entry extends object>(topic: Topic<Entry>, entry: Entry): void
  /** How many entries of a topic wait in this process, or in its files. */
  depth(topic: string): number
  /** Writes all entries so far, for `limitMs` at most, and moves the rest to the backlog if there is one. Resolves with the
   *  number of lost entries. */
  drain(limitMs: number): Promise<number>
}
