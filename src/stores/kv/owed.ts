import type { RecordVersion, Settlement } from './shared-store.ts'

const MOST_SETTLEMENTS = 1000
const MOST_RECORDS = 10_000

/** What the shared store has not been told yet. Bounded: the oldest is forgotten first, SQL has the truth about both. */
export interface Owed {
  addSettlement(outcome: Settlement): void
  takeSettlement(): Settlement | undefined
  addRecords(records: readonly RecordVersion[]): void
  records(): RecordVersion[]
  /** The store was told of these. */
  removeRecords(records: readonly RecordVersion[]): void
}

export function createOwed(): Owed {
  const settlements: Settlement[] = []
  const versions = new Map<string, number>()
  return {
    addSettlement(outcome) {
      settlements.push(late(outcome))
      if (settlements.length > MOST_SETTLEMENTS) settlements.shift()
    },
    takeSettlement: () => settlements.shift(),
    addRecords(records) {
      for (const { record, version } of records) {
        versions.set(record, Math.max(version, versions.get(record) ?? 0))
        if (versions.size > MOST_RECORDS) versions.delete(versions.keys().next().value as string)
      }
    },
    records: () => Array.from(versions, ([record, version]) => ({ record, version })),
    removeRecords(records) {
      for (const { record, version } of records) if (versions.get(record) === version) versions.delete(record)
    },
  }
}

/** Money and counts stay true; how a deployment fared some minutes ago must neither cool it now nor clear it. */
const late = (outcome: Settlement): Settlement => ({
  ...outcome,
  outcomes: outcome.outcomes.map((ended) => ({ ...ended, result: 'neutral', used: {} })),
})
