import { FACT_NAMES, factOf } from '../../stores/sql/spend/call-facts.ts'
import { factsOf } from '../call-facts.ts'
import type { SinkEntry } from './sink.ts'

/** Rises when a column is renamed, removed or changes its type; columns may be added without. */
const SCHEMA_VERSION = 1

/** The row of a call: all columns of the ledger in every row, so that readers find one schema. Absent values are null.
 *  `request` and `answer` are JSON texts. */
export function logRow({ event, content }: SinkEntry): Readonly<Record<string, unknown>> | undefined {
  if (event.type !== 'call.finished') return undefined
  const facts = factsOf(event)
  const row: Record<string, unknown> = { schema_version: SCHEMA_VERSION }
  for (const name of FACT_NAMES) row[name] = factOf(name).mayLack && facts[name] === '' ? null : facts[name]
  row.request = content?.request ?? null
  row.answer = content?.answer ?? null
  return row
}
