import { type RawBuilder, type Selectable, sql } from 'kysely'
import { batchOf, queries, rowsOf } from '../query.ts'
import type { GatewayBatchTable } from '../schema/batch-schema.ts'
import type { Sql } from '../sql.ts'
import { type BatchOwner, ownedBy, ownerColumns } from './batch-owner.ts'
import { UNFINISHED } from './unfinished.ts'

/** A batch as its clients see it. */
export type BatchRecord = Omit<
  Selectable<GatewayBatchTable>,
  'checkpoints' | 'next_item' | 'due_at' | 'served_at' | 'lease_token' | 'lease_until'
>

export interface NewBatch {
  readonly batch_id: string
  readonly endpoint: string
  readonly input_file_id: string
  readonly metadata: Readonly<Record<string, string>> | null
  readonly idempotency_key: string | null
  readonly request_hash: string | null
  readonly retry_of: string | null
  /** How long its files are kept; null: as long as all. */
  readonly output_seconds: number | null
}

/** The outcome of a creation. `earlier`: the batch that was created with the same idempotency key. */
export type Creation =
  | { readonly batch: BatchRecord; readonly earlier: boolean }
  | { readonly refused: 'another_request' | 'no_file' | 'another_purpose' | 'too_many_active' }
  | { readonly refused: 'managed_tools'; readonly line: number }
  /** By a batch that runs, or has run some of them. */
  | { readonly refused: 'repeated_before'; readonly by: string }

export interface BatchRecords {
  /** Makes a batch, unless its owner has `mostActive` of them, its input file is not there or cannot be run, its
   *  idempotency key was used, or another repeats what it would. All of it holds for simultaneous creations. */
  create(batch: NewBatch, owner: BatchOwner, mostActive: number): Promise<Creation>
  find(batchId: string, owner: BatchOwner): Promise<BatchRecord | undefined>
  /** Newest first, behind the batch `after`; undefined if the owner has no such batch. */
  page(
    owner: BatchOwner,
    options: { readonly after: string | undefined; readonly limit: number },
  ): Promise<BatchRecord[] | undefined>
  /** Cancels a batch that has not ended and whose files are not being written; `cancelled` is false for others and for
   *  those that are being cancelled. undefined: there is none within the bounds. */
  cancel(
    batchId: string,
    within: RawBuilder<boolean>,
  ): Promise<{ readonly batch: BatchRecord; readonly cancelled: boolean } | undefined>
}

export const BATCH_COLUMNS = [
  'batch_id',
  'endpoint',
  'input_file_id',
  'completion_window',
  'metadata',
  'status',
  'outcome',
  'key_id',
  'team_id',
  'organization_id',
  'user_id',
  'idempotency_key',
  'request_hash',
  'retry_of',
  'errors',
  'requests',
  'completed',
  'failed',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost_nano',
  'model',
  'output_file_id',
  'error_file_id',
  'created_at',
  'in_progress_at',
  'finalizing_at',
  'completed_at',
  'failed_at',
  'expired_at',
  'cancelling_at',
  'cancelled_at',
  'expires_at',
  'output_seconds',
] as const satisfies readonly (keyof BatchRecord)[]

/** The subject by which an owner's batches are counted: its team, else its key. */
const turnOf = ({ keyId, teamId }: BatchOwner) =>
  sql`SELECT pg_advisory_xact_lock(hashtextextended(${`batches of ${teamId ?? keyId}`}, 0))`

export function batchRecords(database: Sql): BatchRecords {
  return {
    async create(batch, owner, mostActive) {
      const { batch_id, idempotency_key, retry_of } = batch
      const columns = sql.join(BATCH_COLUMNS.map((name) => sql.ref(name)))
      const active = sql<number>`(
        SELECT count(*) FROM gateway_batch WHERE ${ownedBy(owner, 'gateway_batch')} AND ${UNFINISHED})`
      const repeating = sql`
        SELECT batch_id FROM gateway_batch WHERE ${ownedBy(owner, 'gateway_batch')} AND retry_of = ${retry_of}
          AND batch_id <> ${batch_id} AND (${UNFINISHED} OR completed + failed > 0)`
      const entries = Object.entries({ ...batch, ...ownerColumns(owner) })
      const insertion = sql<BatchRecord>`
        INSERT INTO gateway_batch (${sql.join(entries.map(([name]) => sql.id(name)))}, expires_at)
        SELECT ${sql.join(entries.map(([, value]) => value))}, now() + interval '24 hours'
        FROM gateway_file
        WHERE ${readable(batch.input_file_id, owner)} AND purpose = 'batch' AND managed_tools_line IS NULL
          AND ${active} < ${mostActive} AND NOT EXISTS (${repeating})
        FOR SHARE OF gateway_file
        ON CONFLICT (key_id, idempotency_key) DO NOTHING
        RETURNING ${columns}`
      const earlier = queries
        .selectFrom('gateway_batch')
        .select(BATCH_COLUMNS)
        .where('key_id', '=', owner.keyId)
        .where('idempotency_key', '=', idempotency_key)
        .where('batch_id', '!=', batch_id)
      const file = sql<{ purpose: string; managed_tools_line: number | null }>`
        SELECT purpose, managed_tools_line FROM gateway_file WHERE ${readable(batch.input_file_id, owner)}`
      const repeated = sql<{ batch_id: string }>`${repeating} LIMIT 1`
      const statements = [turnOf(owner), insertion, earlier, file, repeated] as const
      const [, [made], [before], [input], [other]] = await batchOf(database, statements)
      if (made) return { batch: made, earlier: false }
      if (before) {
        if (before.request_hash !== batch.request_hash) return { refused: 'another_request' }
        return { batch: before, earlier: true }
      }
      if (!input) return { refused: 'no_file' }
      if (input.purpose !== 'batch') return { refused: 'another_purpose' }
      if (input.managed_tools_line !== null) return { refused: 'managed_tools', line: input.managed_tools_line }
      return other ? { refused: 'repeated_before', by: other.batch_id } : { refused: 'too_many_active' }
    },
    async find(batchId, owner) {
      const [found] = await rowsOf(
        database,
        queries
          .selectFrom('gateway_batch')
          .select(BATCH_COLUMNS)
          .where('batch_id', '=', batchId)
          .where(ownedBy(owner, 'gateway_batch')),
      )
      return found
    },
    async page(owner, { after, limit }) {
      const last = sql`SELECT created_at, batch_id FROM gateway_batch
        WHERE batch_id = ${after ?? null} AND ${ownedBy(owner, 'gateway_batch')}`
      const page = sql<BatchRecord>`
        SELECT ${sql.join(BATCH_COLUMNS.map((name) => sql.ref(name)))} FROM gateway_batch
        WHERE ${ownedBy(owner, 'gateway_batch')} AND (${after ?? null}::text IS NULL OR (created_at, batch_id) < (${last}))
        ORDER BY created_at DESC, batch_id DESC LIMIT ${limit}`
      const [known, rows] = await batchOf(database, [sql<object>`${last}`, page])
      return after !== undefined && known.length === 0 ? undefined : rows
    },
    async cancel(batchId, within) {
      const change = sql<BatchRecord>`
        UPDATE gateway_batch SET status = 'cancelling', outcome = 'cancelled', cancelling_at = now(),
          lease_token = NULL, lease_until = NULL
        WHERE batch_id = ${batchId} AND ${within} AND status IN ('validating', 'in_progress')
        RETURNING ${sql.join(BATCH_COLUMNS.map((name) => sql.ref(name)))}`
      const standing = queries
        .selectFrom('gateway_batch')
        .select(BATCH_COLUMNS)
        .where('batch_id', '=', batchId)
        .where(within)
      const [[changed], [batch]] = await batchOf(database, [change, standing])
      return batch && { batch, cancelled: changed !== undefined }
    },
  }
}

const readable = (fileId: string, owner: BatchOwner) => sql`
  file_id = ${fileId} AND ${ownedBy(owner, 'gateway_file')} AND state = 'ready' AND gateway_file.expires_at > now()`
