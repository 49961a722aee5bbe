import type { Caller } from '../pipeline/caller.ts'
import type { Reach } from '../stores/sql/records/reach.ts'
import type { Permission } from './permissions.ts'

export type { Reach }

const NOTHING: Reach = { organizations: [], teams: [] }

/** The organizations and teams in which a caller has a permission. Other records do not exist for the caller. */
export function reachOf(caller: Caller, _permission: Permission): Reach {
  return caller.kind === 'master_key' ? 'everything' : NOTHING
}
