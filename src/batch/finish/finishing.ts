import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { BatchLease } from '../../stores/sql/batches/batch-leases.ts'
import type { EndingBatch } from '../../stores/sql/batches/finish-records.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { errorFileId, outputFileId, resultKey } from '../batch-ids.ts'
import type { BatchStage } from '../batch-stage.ts'
import { persistently } from '../persistently.ts'
import { reportFinished } from '../report-finished.ts'
import { underLease } from '../under-lease.ts'
import type { FinishStores } from './finish-stores.ts'
import { errorLines, outputLines } from './result-lines.ts'
import { writeLines } from './write-lines.ts'

/** How often a process looks for blobs that another one, which was killed, has left. */
const LOOK_EVERY_MS = 3_600_000
/** And after it could not remove some. */
const LOOK_AGAIN_MS = 5000
const BLOBS_AT_ONCE = 100

export interface FinishingServices extends FinishStores {
  readonly config: Config
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly log: Log
}

/** Writes the files of batches of which nothing runs any more, and ends them. Repeated after a crash at any point, it
 *  leaves the same. */
export function finishing(services: FinishingServices): BatchStage {
  const { records, clock, log } = services
  let lookAt = Number.NEGATIVE_INFINITY

  async function look(signal: AbortSignal): Promise<void> {
    lookAt = clock.now() + LOOK_AGAIN_MS
    await removeBlobs(services, signal)
    lookAt = clock.now() + LOOK_EVERY_MS
  }

  return {
    async step(signal) {
      const token = newId('lease')
      const batch = await records.lease(token)
      if (batch) {
        const lease = { batchId: batch.batch_id, token }
        const finish = (leased: AbortSignal) => finishBatch(services, batch, lease, leased)
        const ended = await underLease(lease, finish, { leases: records, log, signal, failed: 'batch.not_finished' })
        if (ended) await look(signal)
        return true
      }
      if (clock.now() >= lookAt) await look(signal)
      return false
    },
  }
}

async function finishBatch(
  services: FinishingServices,
  batch: EndingBatch,
  lease: BatchLease,
  signal: AbortSignal,
): Promise<void> {
  const { records, blobs, config } = services
  const { batch_id: id } = batch
  const outputFile = { fileId: outputFileId(id), filename: `${id}_output.jsonl` }
  const errorFile = { fileId: errorFileId(id), filename: `${id}_error.jsonl` }
  const output = await writeLines(blobs, outputFile, outputLines(services, batch), signal)
  const errors = await writeLines(blobs, errorFile, errorLines(services, batch), signal)
  signal.throwIfAborted()
  const ended = await records.end(lease, { output, errors }, config.general_settings.file_retention_days)
  if (!ended) return
  reportFinished(services, ended)
}

/** Removes the blobs of results of ended batches. What was removed before a failure is not removed again. */
async function removeBlobs({ records, blobs }: FinishingServices, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const left = await records.leftBlobs(BLOBS_AT_ONCE)
    if (left.length === 0) return
    const removed: typeof left = []
    try {
      for (const blob of left) {
        await persistently(() => blobs.remove(resultKey(blob.batch_id, blob.item)))
        removed.push(blob)
      }
    } finally {
      await records.forgetBlobs(removed)
    }
  }
}
