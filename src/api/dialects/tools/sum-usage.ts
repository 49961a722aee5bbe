import { isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'

/** The sum of usages as providers wrote them: numbers are added up, member by member. undefined if there is none. */
export function sumUsage(usages: readonly unknown[]): JsonRecord | undefined {
  const told = usages.filter(isRecord)
  return told.length === 0 ? undefined : told.reduce(added)
}

function added(one: JsonRecord, other: JsonRecord): JsonRecord {
  const sum: Record<string, unknown> = { ...one }
  for (const [name, value] of Object.entries(other)) {
    const before = Object.hasOwn(one, name) ? one[name] : undefined
    if (typeof value === 'number' && typeof before === 'number') sum[name] = before + value
    else if (isRecord(value) && isRecord(before)) sum[name] = added(before, value)
    else if (before === undefined || before === null) sum[name] = value
  }
  return sum
}
