/** The organizations and teams that a caller may see or change something in. A team within an organization of the list
 *  belongs to it without being named. */
export type Reach =
  | 'everything'
  | {
      readonly organizations: readonly string[]
      readonly teams: readonly string[]
      /** What this person owns is within it too, wherever that is. */
      readonly own?: Owner | undefined
      /** Of users those alone who are members of nothing beyond it. */
      readonly wholeUsers?: boolean
    }

/** A person who owns keys, and whose calls are told under their user. */
export interface Owner {
  readonly accountId: string
  readonly userId: string
}
