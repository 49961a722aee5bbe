import type { Sql } from '../stores/sql/sql.ts'

/** A kind of record that is written beside requests, many in one statement. */
export interface Topic<Entry extends object = object> {
  readonly name: string
  /** Writes entries that may have been written before: each carries its own id, and a second time changes nothing. What
   *  travels through a queue or a file has become JSON on its way, perhaps by an older build. */
  write(sql: Sql, entries: readonly Entry[]): Promise<void>
  /** What becomes of entries that there is no room for. Without it they are dropped. */
  readonly folding?: Folding<Entry>
}

/** Adds entries up, so that any number of them fits: what is lost is their detail. */
export interface Folding<Entry extends object = object> {
  /** Of what comes of it. */
  readonly topic: Topic
  begin(): RecordFold<Entry>
  /** One entry that the database refuses, as an entry of the topic whose id is made of its own: adding it up twice is the
   *  same as once. */
  alone(entry: Entry): object
}

/** Only entries that nobody tried to write before may be added: of others nobody knows whether they were. */
export interface RecordFold<Entry extends object = object> {
  readonly entries: number
  add(entry: Entry): void
  /** Everything that was added, as entries of the folding's topic. Nothing may be added any more. */
  end(): readonly object[]
}

/** The way of records to the database. Nobody waits for it and nobody hears of its troubles: a database that is away
 *  costs no request anything. */
export interface Delivery {
  deliver<Entry extends object>(topic: Topic<Entry>, entry: Entry): void
  /** How many entries of a topic wait in this process, or in its files. */
  depth(topic: string): number
  /** Writes what was handed over so far, for as long as `limitMs`, and keeps the rest where the process has a place that
   *  outlives it. Resolves with how many entries are lost. */
  drain(limitMs: number): Promise<number>
}
