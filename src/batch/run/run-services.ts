import type { KeyCallers } from '../../identity/key-callers.ts'
import type { Footprints } from '../../lib/footprints.ts'
import type { Foreground } from '../../pipeline/foreground.ts'
import type { PipelineServices } from '../../pipeline/services.ts'
import type { LiveRegistry } from '../../routing/live/live-registry.ts'
import type { Blobs } from '../../stores/blobs/blobs.ts'
import type { ItemRecords } from '../../stores/sql/batches/item-records.ts'
import type { Sql } from '../../stores/sql/sql.ts'
import type { Delivery } from '../../telemetry/delivery/delivery.ts'
import type { BatchEndpoints } from '../batch-endpoint.ts'

/** What running batches depends on, in addition to the pipeline. */
export interface RunServices extends PipelineServices {
  readonly sql: Sql
  readonly blobs: Blobs
  readonly footprints: Footprints
  readonly live: LiveRegistry
  readonly delivery: Delivery
  readonly records: { readonly batchItems: ItemRecords }
  readonly batchEndpoints: BatchEndpoints
  readonly keyCallers: KeyCallers
  readonly foreground: Foreground
}
