import { sql } from 'kysely'
import { rowsOf } from '../query.ts'
import type { BatchCheckpoint, BatchError } from '../schema/batch-schema.ts'
import type { Sql } from '../sql.ts'
import { type BatchLease, type BatchLeases, batchLeases, leaseEnd, under, unleased } from './batch-leases.ts'
import { type EndedBatch, endedBatch } from './ended-batch.ts'

/** A batch whose input file is to be checked. */
export interface UncheckedBatch {
  readonly batch_id: string
  readonly endpoint: string
  readonly key_id: string
  readonly input_file_id: string
  /** The file is there, and has not expired. */
  readonly readable: boolean
}

export interface ValidationRecords extends BatchLeases {
  /** Leases the batch that waits longest. */
  lease(token: string): Promise<UncheckedBatch | undefined>
  /** Starts the batch. Resolves with false if the lease is lost. */
  pass(
    lease: BatchLease,
    found: { readonly requests: number; readonly checkpoints: readonly BatchCheckpoint[] },
  ): Promise<boolean>
  /** Fails the batch. Resolves with undefined if the lease is lost. */
  fail(lease: BatchLease, errors: readonly BatchError[]): Promise<EndedBatch | undefined>
}

export function validationRecords(database: Sql): ValidationRecords {
  return {
    ...batchLeases(database),
    async lease(token) {
      const [leased] = await rowsOf(
        database,
        sql<UncheckedBatch>`
          UPDATE gateway_batch SET lease_token = ${token}, lease_until = ${leaseEnd}
          WHERE batch_id = (
            SELECT batch_id FROM gateway_batch
            WHERE status = 'validating' AND expires_at > now() AND ${unleased}
            ORDER BY created_at, batch_id LIMIT 1 FOR UPDATE SKIP LOCKED)
          RETURNING batch_id, endpoint, key_id, input_file_id, EXISTS (
            SELECT FROM gateway_file AS file
            WHERE file.file_id = input_file_id AND file.state = 'ready' AND file.expires_at > now()) AS readable`,
      )
      return leased
    },
    async pass(lease, { requests, checkpoints }) {
      const passed = await rowsOf(
        database,
        sql`
          UPDATE gateway_batch SET status = 'in_progress', in_progress_at = now(), requests = ${requests},
            checkpoints = ${JSON.stringify(checkpoints)}::json, lease_token = NULL, lease_until = NULL
          WHERE ${under(lease)} AND status = 'validating' RETURNING batch_id`,
      )
      return passed.length > 0
    },
    async fail(lease, errors) {
      const [failed] = await rowsOf(
        database,
        sql<EndedBatch>`
          UPDATE gateway_batch SET status = 'failed', failed_at = now(), errors = ${JSON.stringify(errors)}::json,
            lease_token = NULL, lease_until = NULL
          WHERE ${under(lease)} AND status = 'validating' RETURNING ${endedBatch}`,
      )
      return failed
    },
  }
}
