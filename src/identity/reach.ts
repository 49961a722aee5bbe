import type { Caller } from '../pipeline/caller.ts'
import type { Reach } from '../stores/sql/records/reach.ts'
import type { Permission } from './permissions.ts'

export type { Reach }

const NOTHING: Reach = { organizations: [], teams: [] }

/** Where a caller has a permission: what a list shows, and which records there are for them. */
export function reachOf(caller: Caller, _permission: Permission): Reach {
  return caller.kind === 'master_key' ? 'everything' : NOTHING
}
