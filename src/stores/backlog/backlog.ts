/** A durable first-in, first-out list of the records of one topic, owned by one process at a time. */
export interface Backlog {
  readonly isEmpty: boolean
  /** The number of known entries. Entries of an earlier process count once they are read. */
  readonly depth: number
  /** Resolves with the number of entries, from the first, that survive the process from now on: fewer than all if the space
   *  is used up or the disk fails. */
  append(entries: readonly object[]): Promise<number>
  /** The oldest entries, which stay in the list; none if it is empty. */
  first(limit: number): Promise<readonly object[]>
  /** Removes the oldest entries, which `first` has returned. */
  remove(count: number): Promise<void>
}

export interface Backlogs {
  of(topic: string): Backlog
  /** Takes over the entries of processes that have ended. */
  adopt(): void
  /** Makes room for the last entries of a process whose disk is full; returns whether it could. */
  makeRoom(): boolean
  close(): Promise<void>
}
