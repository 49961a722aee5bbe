import type { Config } from '../config/schema.ts'
import { type Log, throttled } from '../lib/log.ts'
import type { Secret } from '../lib/secret.ts'
import { type Caller, UNLIMITED } from '../pipeline/caller.ts'

/** Full access, no limits. */
export const masterCaller: Caller = {
  ...UNLIMITED,
  kind: 'master_key',
  userId: undefined,
  versions: [],
  remembered: [],
  readAt: 0,
  confirmedAt: 0,
  again: async () => masterCaller,
  confirmed: async () => masterCaller,
}

/** The master key, and the former one while its users change to the new one. */
export interface MasterKeys {
  readonly now: Secret | undefined
  readonly previous: Secret | undefined
  /** Called for each request that still comes with the former one. */
  readonly previousUsed: () => void
}

/** How often the use of a former master key is logged. */
const LOG_EVERY_MS = 60_000

export function masterKeysOf(settings: Config['general_settings'], log: Log): MasterKeys {
  const previousUsed = throttled(LOG_EVERY_MS, Date.now, (suppressed) =>
    log.warn('master_key.previous_used', { suppressed }),
  )
  return { now: settings.master_key, previous: settings.master_key_previous, previousUsed }
}
