import type { BudgetSpent } from '../../stores/sql/records/budget-records.ts'
import type { Sql } from '../../stores/sql/sql.ts'

/** A kind of record that is written in the background, many in one statement. */
export interface Topic<Entry extends object = object> {
  readonly name: string
  /** Writes entries. It must be idempotent by their ids: entries may have been written before. Entries of a queue or
   *  file were JSON, perhaps from an older build. Resolves with what budgets have spent now that they were charged. */
  write(sql: Sql, entries: readonly Entry[]): Promise<readonly BudgetSpent[]> | Promise<void>
  /** How entries without space are added up. Without it they are dropped. */
  readonly folding?: Folding<Entry>
}

/** Adds entries up, so that any number of them fits into memory; only their detail is lost. */
export interface Folding<Entry extends object = object> {
  /** The topic of the sums. */
  readonly topic: Topic
  begin(): RecordFold<Entry>
  /** The sums of one entry that the database refuses. Their id is derived from the entry's, so that writing them twice
   *  changes nothing. */
  alone(entry: Entry): object
}

/** Only entries without an earlier attempt to write them may be added: others may have been written already. */
export interface RecordFold<Entry extends object = object> {
  readonly entries: number
  add(entry: Entry): void
  /** Ends the fold, and returns its sums as entries of the folding's topic. */
  end(): readonly object[]
}

/** Delivers records to the database in the background. No request waits for it or fails because of it, even while the
 *  database is away. */
export interface Delivery {
  deliver<Entry extends object>(topic: Topic<Entry>, entry: Entry): void
  /** The number of entries of a topic that wait in this process or in its files. */
  depth(topic: string): number
  /** How long the oldest of them has waited at most; absent where entries do not wait in this process. */
  lagMs?(topic: string): number
  /** Resolves when the entries of a topic that match wait in this process no longer, or after `limitMs`. It and the next
   *  are absent where entries do not wait. */
  written?<Entry extends object>(
    topic: Topic<Entry>,
    matches: (entry: Entry) => boolean,
    limitMs: number,
  ): Promise<void>
  /** Resolves when other processes have written what waits in them now, if their database answers. */
  gathered?(): Promise<void>
  /** Writes all entries so far, for `limitMs` at most, and moves the rest to the backlog if there is one. Resolves with
   *  the number of lost entries. */
  drain(limitMs: number): Promise<number>
}
