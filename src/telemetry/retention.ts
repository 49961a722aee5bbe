import type { Config } from '../config/schema.ts'
import { repeated } from '../lib/job.ts'
import type { Log } from '../lib/log.ts'
import { removeAuditEvents } from '../stores/sql/records/audit-records.ts'
import { refusalRecords } from '../stores/sql/spend/refusal-records.ts'
import { spendRetention } from '../stores/sql/spend/spend-retention.ts'
import type { Sql } from '../stores/sql/sql.ts'

/** Few enough that a statement takes a fraction of a second; a run of them keeps up with 1,000 calls a second. */
const ROWS_A_STEP = 5000
/** Counts of refused calls are kept as long as the rows of calls, but no longer than this. */
const REFUSAL_DAYS = 90

/** Removes rows of the ledger and audit events that are kept no longer. Ended anywhere, the next run goes on. */
export function retention(
  sql: Sql,
  settings: Pick<Config['general_settings'], 'spend_log_retention_days' | 'audit_retention_days'>,
  log: Log,
): (signal: AbortSignal) => Promise<void> {
  const { spend_log_retention_days: callDays, audit_retention_days: auditDays } = settings
  const ledger = spendRetention(sql)
  const refusals = refusalRecords(sql)
  const refusalDays = Math.min(callDays || REFUSAL_DAYS, REFUSAL_DAYS)
  return async (signal) => {
    const calls = callDays > 0 ? await repeated(signal, () => ledger.removeCalls(callDays, ROWS_A_STEP)) : 0
    const events = auditDays > 0 ? await repeated(signal, () => removeAuditEvents(sql, auditDays, ROWS_A_STEP)) : 0
    await repeated(signal, () => ledger.forgetIds(ROWS_A_STEP))
    await repeated(signal, () => refusals.remove(refusalDays, ROWS_A_STEP))
    if (calls + events > 0) log.info('retention.removed', { calls, audit_events: events })
  }
}
