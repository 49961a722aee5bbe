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
  mayUseServer: () => true,
  restricted: false,
  versions: [],
  remembered: [],
  readAt: 0,
  confirmedAt: 0,
  again: async () => masterCaller,
  confirmed: async () => masterCaller,
}
