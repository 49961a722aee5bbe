import type { EndingBatch, ResultRow } from '../../stores/sql/batches/finish-records.ts'
import { resultKey } from '../batch-ids.ts'
import { persistently } from '../persistently.ts'
import { unansweredLine } from '../result-line.ts'
import type { FinishStores } from './finish-stores.ts'
import { unrunRequests } from './unrun-requests.ts'

/** A line of a result file, without its end. */
export type ResultLine = string | Uint8Array

/** The results that are answers of status 200, in the order of the input. */
export async function* outputLines(stores: FinishStores, { batch_id }: EndingBatch): AsyncGenerator<ResultLine> {
  for await (const row of resultRows(stores, batch_id, false)) yield await lineOf(stores, batch_id, row)
}

const NEVER_RAN = {
  completed: { code: 'not_run', message: 'The request was not run.' },
  expired: { code: 'batch_expired', message: 'The request was not run before the batch expired.' },
  cancelled: { code: 'batch_cancelled', message: 'The request was not run before the batch was cancelled.' },
} as const

/** The other results, and between them the requests that never ran, in the order of the input. */
export async function* errorLines(stores: FinishStores, batch: EndingBatch): AsyncGenerator<ResultLine> {
  const { batch_id: batchId, outcome } = batch
  const rows = resultRows(stores, batchId, true)
  let row = (await rows.next()).value
  for await (const { item, customId } of unrunRequests(stores, batch)) {
    for (; row && row.item < item; row = (await rows.next()).value) yield await lineOf(stores, batchId, row)
    if (row?.item === item) continue
    yield unansweredLine({ batchId, item, customId }, NEVER_RAN[outcome])
  }
  for (; row; row = (await rows.next()).value) yield await lineOf(stores, batchId, row)
}

async function* resultRows(
  { records }: FinishStores,
  batchId: string,
  failed: boolean,
): AsyncGenerator<ResultRow, undefined> {
  for (let after = -1; ; ) {
    const page = await records.results(batchId, failed, after)
    if (page.length === 0) return undefined
    yield* page
    after = (page.at(-1) as ResultRow).item
  }
}

/** A long one is read as a whole, so that a reading that breaks off can be repeated. */
async function lineOf({ blobs }: FinishStores, batchId: string, { item, text }: ResultRow): Promise<ResultLine> {
  if (text !== null) return text
  const stored = await persistently(async () => {
    const blob = await blobs.get(resultKey(batchId, item))
    return blob && new Uint8Array(await new Response(blob.body).arrayBuffer())
  })
  if (stored) return stored
  const error = { code: 'result_lost', message: 'The request was answered, but its result is no longer there.' }
  return unansweredLine({ batchId, item, customId: null }, error)
}
