import { asText, parseRecord } from '../../lib/json/lenient.ts'
import type { EndingBatch } from '../../stores/sql/batches/finish-records.ts'
import { CHECKPOINT_ITEMS } from '../../stores/sql/schema/batch-schema.ts'
import { contentKey } from '../batch-ids.ts'
import { linesOf } from '../lines.ts'
import { yielding } from '../yielding.ts'
import type { FinishStores } from './finish-stores.ts'

const ANSWERED_AT_ONCE = 10_000

/** A request that was not answered well. */
export interface UnrunRequest {
  readonly item: number
  /** null: the input file is no longer there. */
  readonly customId: string | null
}

/** The requests from the first one on that may never have run, in order; those that have failed are among them. */
export async function* unrunRequests(stores: FinishStores, batch: EndingBatch): AsyncGenerator<UnrunRequest> {
  if (batch.completed + batch.failed >= batch.requests) return
  const answered = answeredItems(stores, batch)
  let next = (await answered.next()).value
  for await (const request of requestsOf(stores, batch)) {
    while (next !== undefined && next < request.item) next = (await answered.next()).value
    if (next !== request.item) yield request
  }
}

async function* answeredItems(
  { records }: FinishStores,
  { batch_id, first_unrun }: EndingBatch,
): AsyncGenerator<number, undefined> {
  for (let after = first_unrun - 1; ; ) {
    const page = await records.answered(batch_id, after, ANSWERED_AT_ONCE)
    if (page.length === 0) return undefined
    yield* page
    after = page.at(-1) as number
  }
}

async function* requestsOf({ blobs }: FinishStores, batch: EndingBatch): AsyncGenerator<UnrunRequest> {
  const { requests, first_unrun, checkpoint, input_file_id, input_bytes } = batch
  const from = checkpoint ?? { offset: 0, line: 1 }
  const range = { from: from.offset, length: input_bytes - from.offset }
  const input = range.length > 0 ? await blobs.get(contentKey(input_file_id), range) : undefined
  let item = checkpoint ? first_unrun - (first_unrun % CHECKPOINT_ITEMS) : 0
  if (input) {
    const yieldAfter = yielding()
    for await (const { bytes, length } of linesOf(input.body, Number.POSITIVE_INFINITY, from)) {
      if (item === requests) return
      if (item >= first_unrun) yield { item, customId: customIdOf(bytes) }
      item += 1
      await yieldAfter(length)
    }
  }
  for (item = Math.max(item, first_unrun); item < requests; item++) yield { item, customId: null }
}

function customIdOf(bytes: Uint8Array | undefined): string | null {
  return (bytes && asText(parseRecord(bytes)?.custom_id)) || null
}
