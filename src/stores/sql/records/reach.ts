/** The organizations and teams in which a caller may see or change records. Teams of a listed organization are included. */
export type Reach =
  | 'everything'
  | {
      readonly organizations: readonly string[]
      readonly teams: readonly string[]
      /** Records that this person owns are within reach, wherever they are. */
      readonly own?: Owner | undefined
      /** Only users without memberships beyond the reach are within it. */
      readonly wholeUsers?: boolean
    }

/** A person who owns keys, and whose calls are recorded under their user. */
export interface Owner {
  readonly accountId: string
  readonly userId: string
}
