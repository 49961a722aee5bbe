import type { Clock } from '../lib/clock.ts'
import { isoTime } from '../lib/iso-time.ts'
import { type Job, repeated } from '../lib/job.ts'
import type { KeyNoticeRecords } from '../stores/sql/key-notice-records.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** How many keys one step reads: few enough to send all their notices within a run. */
const AT_ONCE = 100

/** Sends notices of keys some days before they expire: one for each key, end and number of days, across all
 *  processes. */
export function expiringKeys(
  days: readonly number[],
  {
    records,
    telemetry,
    clock,
  }: { readonly records: KeyNoticeRecords; readonly telemetry: Telemetry; readonly clock: Clock },
): Job {
  async function step(): Promise<number> {
    const keys = await records.due(days, AT_ONCE)
    for (const key of keys) {
      telemetry.emit({
        type: 'key.expiring',
        at: isoTime(clock.now()),
        keyId: key.key_id,
        keyName: key.key_name ?? '',
        teamId: key.team_id ?? '',
        organizationId: key.organization_id ?? '',
        userId: key.user_id ?? '',
        expiresAt: isoTime(Date.parse(key.expires_at)),
        days: key.days,
      })
    }
    return keys.length
  }
  return {
    name: 'expiring_keys',
    everySeconds: days.length > 0 ? 600 : 0,
    run: async (signal) => void (await repeated(signal, step)),
  }
}
