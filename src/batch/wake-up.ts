import { describeError, type Log } from '../lib/log.ts'
import type { Queue } from '../stores/queue/queue.ts'

export const BATCH_TOPIC = 'batch'

/** Says to whoever works on batches that something is due. It may get lost: what is due is found without it. */
export async function wakeBatches({ queue, log }: { readonly queue: Queue; readonly log: Log }): Promise<void> {
  try {
    await queue.send([{ topic: BATCH_TOPIC, body: {} }])
  } catch (error) {
    log.warn('batch.not_woken', { error: describeError(error) })
  }
}
