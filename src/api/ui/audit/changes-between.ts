import type { AuditEvent } from '../../../stores/sql/records/audit-records.ts'

/** The fields whose values differ, as the audit tells of them. */
export function changesBetween(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  names: readonly string[],
): AuditEvent['changes'] {
  return Object.fromEntries(
    names
      .map((name) => [name, { old: before[name] ?? null, new: after[name] ?? null }] as const)
      .filter(([, change]) => JSON.stringify(change.old) !== JSON.stringify(change.new)),
  )
}
