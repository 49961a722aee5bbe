import type { Queue } from '../stores/queue/queue.ts'
import { finishRecords } from '../stores/sql/batches/finish-records.ts'
import { validationRecords } from '../stores/sql/batches/validation-records.ts'
import { finishing } from './finish/finishing.ts'
import { pipelineExecutor } from './run/pipeline-executor.ts'
import type { RunServices } from './run/run-services.ts'
import { runStage } from './run/run-stage.ts'
import { validation } from './validate/validation.ts'
import { type BatchWorker, batchWorker } from './worker.ts'

/** The worker of batches with everything that its stages need. */
export function batchWorkerOf(
  services: RunServices & { readonly queue: Queue },
  itemsAtOnce = Number.POSITIVE_INFINITY,
): BatchWorker {
  const { config, telemetry, log, queue, store, clock, sql, blobs } = services
  const { embeddings_batch_enabled: enabled, batch_concurrency } = config.general_settings
  const shared = { config, blobs, clock, telemetry, log }
  return batchWorker({
    enabled,
    blobs,
    items: services.records.batchItems,
    running: () =>
      runStage({
        executor: pipelineExecutor(services),
        concurrency: Math.min(batch_concurrency, itemsAtOnce),
        foreground: services.foreground,
        telemetry,
        log,
      }),
    others: [
      validation({
        ...shared,
        records: validationRecords(sql),
        callers: services.keyCallers,
        live: services.live,
        endpoints: services.batchEndpoints,
      }),
      finishing({ ...shared, records: finishRecords(sql) }),
    ],
    queue,
    store,
    log,
    now: clock.now,
  })
}
