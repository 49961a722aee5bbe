import type { Blobs } from '../../stores/blobs/blobs.ts'
import type { FinishRecords } from '../../stores/sql/batches/finish-records.ts'

/** What the files of batches are made from. */
export interface FinishStores {
  readonly records: FinishRecords
  readonly blobs: Blobs
}
