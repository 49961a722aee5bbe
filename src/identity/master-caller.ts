import type { Caller } from '../pipeline/caller.ts'

/** Full access, no limits. */
export const masterCaller: Caller = {
  kind: 'master_key',
  keyId: undefined,
  userId: undefined,
  teamId: undefined,
  organizationId: undefined,
  quotas: [],
  slots: [],
  accounts: [],
  mayCall: () => true,
  versions: [],
  again: async () => masterCaller,
}
