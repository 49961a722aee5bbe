import { sql } from 'kysely'
import { queries, rowsOf } from '../query.ts'
import { type BatchCheckpoint, CHECKPOINT_ITEMS } from '../schema/batch-schema.ts'
import type { Sql } from '../sql.ts'
import { type BatchLease, type BatchLeases, batchLeases, leaseEnd, under, unleased } from './batch-leases.ts'
import { type EndedBatch, endedBatch } from './ended-batch.ts'
import { UNFINISHED } from './unfinished.ts'

/** A batch whose requests have ended, and whose files are to be written. */
export interface EndingBatch {
  readonly batch_id: string
  readonly outcome: 'completed' | 'expired' | 'cancelled'
  readonly input_file_id: string
  readonly input_bytes: number
  readonly requests: number
  readonly completed: number
  readonly failed: number
  /** The first request that may never have run. */
  readonly first_unrun: number
  /** The last noted request before it. */
  readonly checkpoint: BatchCheckpoint | null
}

export interface ResultRow {
  readonly item: number
  /** null: it is a blob. */
  readonly text: string | null
}

/** A file that a batch leaves. */
export interface WrittenFile {
  readonly fileId: string
  readonly filename: string
  readonly bytes: number
  readonly sha256: string
  readonly lines: number
}

export interface FinishRecords extends BatchLeases {
  /** Leases a batch whose requests have all ended, or of which no more will run. What a killed process had claimed is
   *  taken from it: it can no longer be recorded. */
  lease(token: string): Promise<EndingBatch | undefined>
  /** Results behind an item, in order: as many as fit into a few megabytes, and at least one. */
  results(batchId: string, failed: boolean, after: number): Promise<ResultRow[]>
  /** The numbers of the requests behind an item that were answered well, in order: at most `limit`. */
  answered(batchId: string, after: number, limit: number): Promise<number[]>
  /** Ends the batch: its files are there from now on, and the results in the database are gone. Resolves with undefined
   *  if the lease is lost. */
  end(
    lease: BatchLease,
    files: { readonly output: WrittenFile | undefined; readonly errors: WrittenFile | undefined },
    retentionDays: number,
  ): Promise<EndedBatch | undefined>
  /** Results of ended batches that may still be blobs. */
  leftBlobs(limit: number): Promise<{ readonly batch_id: string; readonly item: number }[]>
  forgetBlobs(blobs: readonly { readonly batch_id: string; readonly item: number }[]): Promise<void>
}

const PAGE_BYTES = 4 * 1024 * 1024
const PAGE_ROWS = 2000

export function finishRecords(database: Sql): FinishRecords {
  return {
    ...batchLeases(database),
    async lease(token) {
      // The lock on the batch comes first: results are recorded under the same one.
      const [leased] = await rowsOf(
        database,
        sql<Omit<EndingBatch, 'input_bytes'> & { input_bytes: string | null }>`
          WITH leased AS (
            UPDATE gateway_batch SET lease_token = ${token}, lease_until = ${leaseEnd}
            WHERE batch_id = (
              SELECT batch_id FROM gateway_batch AS ending
              WHERE status IN ('finalizing', 'cancelling') AND ${unleased} AND NOT EXISTS (
                SELECT FROM gateway_batch_item AS running
                WHERE running.batch_id = ending.batch_id AND running.state = 'open' AND running.token IS NOT NULL
                  AND running.due_at > now())
              ORDER BY coalesce(finalizing_at, cancelling_at), batch_id LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING *
          ), freed AS (
            UPDATE gateway_batch_item AS item SET token = NULL FROM leased
            WHERE item.batch_id = leased.batch_id AND item.state = 'open' AND item.token IS NOT NULL
          ), unrun AS (
            SELECT least(next_item, (SELECT min(item) FROM gateway_batch_item AS open
              WHERE open.batch_id = leased.batch_id AND open.state = 'open')) AS first FROM leased
          )
          SELECT batch_id, coalesce(outcome, 'completed') AS outcome, input_file_id, requests, completed, failed,
            unrun.first AS first_unrun, checkpoints -> (unrun.first / ${sql.lit(CHECKPOINT_ITEMS)}) AS checkpoint,
            (SELECT bytes FROM gateway_file WHERE file_id = input_file_id) AS input_bytes
          FROM leased, unrun`,
      )
      return leased && { ...leased, input_bytes: Number(leased.input_bytes ?? 0) }
    },
    results: (batchId, failed, after) =>
      rowsOf(
        database,
        sql<ResultRow>`
          SELECT item, text FROM (
            SELECT item, text, sum(octet_length(text)) OVER (ORDER BY item) - octet_length(text) AS before
            FROM gateway_batch_result WHERE batch_id = ${batchId} AND failed = ${failed} AND item > ${after}
            ORDER BY item LIMIT ${PAGE_ROWS}) AS page
          WHERE coalesce(before, 0) < ${PAGE_BYTES} ORDER BY item`,
      ),
    async answered(batchId, after, limit) {
      const page = queries
        .selectFrom('gateway_batch_result')
        .select('item')
        .where('batch_id', '=', batchId)
        .where('failed', '=', false)
        .where('item', '>', after)
        .orderBy('item')
        .limit(limit)
      return (await rowsOf(database, page)).map(({ item }) => item)
    },
    async end(lease, { output, errors }, retentionDays) {
      const files = [output, errors].filter((file) => file !== undefined)
      const column = (name: keyof WrittenFile) => files.map((file) => file[name])
      const [ended] = await rowsOf(
        database,
        sql<EndedBatch>`
          WITH ended AS (
            UPDATE gateway_batch SET status = coalesce(outcome, 'completed'), failed = requests - completed,
              completed_at = CASE WHEN coalesce(outcome, 'completed') = 'completed' THEN now() END,
              expired_at = CASE WHEN outcome = 'expired' THEN now() END,
              cancelled_at = CASE WHEN outcome = 'cancelled' THEN now() END,
              output_file_id = ${output?.fileId ?? null}, error_file_id = ${errors?.fileId ?? null},
              lease_token = NULL, lease_until = NULL
            WHERE ${under(lease)} AND status IN ('finalizing', 'cancelling')
            RETURNING ${endedBatch}, output_seconds
          ), written AS (
            INSERT INTO gateway_file (file_id, purpose, filename, bytes, sha256, lines, state,
              key_id, team_id, organization_id, user_id, expires_at)
            SELECT file_id, 'batch_output', filename, bytes, sha256, lines, 'ready',
              key_id, team_id, organization_id, user_id, now() + least(make_interval(days => ${retentionDays}), make_interval(secs => output_seconds))
            FROM ended, unnest(${column('fileId')}::text[], ${column('filename')}::text[], ${column('bytes')}::bigint[],
              ${column('sha256')}::text[], ${column('lines')}::integer[]) AS file (file_id, filename, bytes, sha256, lines)
            ON CONFLICT (file_id) DO NOTHING
          ), removed AS (
            DELETE FROM gateway_batch_result AS result USING ended
            WHERE result.batch_id = ended.batch_id
          )
          SELECT * FROM ended`,
      )
      return ended
    },
    leftBlobs: (limit) =>
      rowsOf(
        database,
        queries
          .selectFrom('gateway_batch_blob')
          .leftJoin('gateway_batch', 'gateway_batch.batch_id', 'gateway_batch_blob.batch_id')
          .select(['gateway_batch_blob.batch_id', 'gateway_batch_blob.item'])
          .where(sql<boolean>`(${UNFINISHED}) IS NOT TRUE`)
          .limit(limit),
      ),
    async forgetBlobs(blobs) {
      await rowsOf(
        database,
        sql`
          DELETE FROM gateway_batch_blob AS blob
          USING unnest(${blobs.map(({ batch_id }) => batch_id)}::text[], ${blobs.map(({ item }) => item)}::integer[])
            AS gone (batch_id, item)
          WHERE blob.batch_id = gone.batch_id AND blob.item = gone.item`,
      )
    },
  }
}
