/** Room for records of one topic that outlives the process: first in, first out. One process at a time has it. */
export interface Backlog {
  readonly isEmpty: boolean
  /** How many entries are known to wait here. What an earlier process left counts from when it is read. */
  readonly depth: number
  /** Resolves with how many of the first entries are kept from now on, whatever becomes of the process: fewer than all
   *  where there is no more room, or no disk. */
  append(entries: readonly object[]): Promise<number>
  /** The oldest entries, which stay; none where it is empty. */
  first(limit: number): Promise<readonly object[]>
  /** Lets go of so many of the oldest, which `first` has shown. */
  remove(count: number): Promise<void>
}

export interface Backlogs {
  of(topic: string): Backlog
  /** Takes over what processes left that are no more. */
  adopt(): void
  close(): Promise<void>
}
