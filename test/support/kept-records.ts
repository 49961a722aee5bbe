import type { Delivery } from '../../src/telemetry/delivery/delivery.ts'

/** One record on its way to the database. */
export interface KeptRecord {
  readonly topic: string
  readonly entry: object
}

/** The way of records in tests that have no database: what is handed over stays in memory. */
export function keptRecords(): { readonly delivery: Delivery; readonly records: readonly KeptRecord[] } {
  const records: KeptRecord[] = []
  return {
    records,
    delivery: {
      deliver: ({ name }, entry) => void records.push({ topic: name, entry }),
      depth: () => 0,
      drain: async () => 0,
    },
  }
}
