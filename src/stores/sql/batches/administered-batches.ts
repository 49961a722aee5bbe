import { type RawBuilder, sql } from 'kysely'
import { batchOf, rowsOf } from '../query.ts'
import type { Reach } from '../records/reach.ts'
import type { Sql } from '../sql.ts'
import { BATCH_COLUMNS, type BatchRecord } from './batch-records.ts'
import { UNFINISHED } from './unfinished.ts'

/** A batch as those who administer its team or organization see it. */
export interface AdministeredBatch extends BatchRecord {
  readonly key_name: string | null
  readonly team_name: string | null
  /** Requests that are being answered now. */
  readonly running: number
  /** Of the last minute; 0 for a batch that does not run. */
  readonly items_per_minute: number
}

/** A request that failed, or waits because it did. */
export interface ItemError {
  readonly item: number
  readonly custom_id: string | null
  readonly error: string | null
  readonly at: string
}

export interface BatchItem {
  readonly item: number
  readonly line: number | null
  readonly custom_id: string | null
  readonly state: ItemState
  readonly status: number | null
  readonly error: string | null
  readonly tries: number
  readonly call_id: string | null
  readonly input_tokens: string
  readonly output_tokens: string
  readonly cost_nano: string | null
  readonly claimed_at: string
  readonly ended_at: string | null
}

export const ITEM_STATES = ['waiting', 'running', 'completed', 'failed'] as const
export type ItemState = (typeof ITEM_STATES)[number]

export interface BatchFilters {
  readonly status?: BatchRecord['status'] | undefined
  readonly team_id?: string | undefined
  readonly key_id?: string | undefined
  readonly endpoint?: string | undefined
}

/** A batch's place in the list. */
export interface BatchPosition {
  readonly created_at: string
  readonly batch_id: string
}

export interface AdministeredBatches {
  /** Newest first. */
  page(options: {
    readonly reach: Reach
    readonly filters: BatchFilters
    readonly after: BatchPosition | undefined
    readonly limit: number
  }): Promise<AdministeredBatch[]>
  find(batchId: string, reach: Reach): Promise<AdministeredBatch | undefined>
  /** The first request in the order of the input that has failed, or has to be repeated. */
  oldestError(batchId: string): Promise<ItemError | undefined>
  /** The requests that have been claimed, in the order of the input, behind the item `after`. */
  items(
    batchId: string,
    options: { readonly state: ItemState | undefined; readonly after: number; readonly limit: number },
  ): Promise<BatchItem[]>
  /** A file of a batch, while it is there. */
  file(
    fileId: string,
  ): Promise<{ readonly file_id: string; readonly filename: string; readonly bytes: string } | undefined>
  /** The numbers of the requests behind an item that were answered well, in order: at most `limit`. */
  answered(batchId: string, after: number, limit: number): Promise<number[]>
}

/** The speed is told by the last requests that ended. */
const RECENT_ITEMS = 1000

const isRunning = sql<boolean>`item.state = 'open' AND item.token IS NOT NULL AND item.due_at > now()`

/** The condition that a row of gateway_batch is within the reach. */
export function withinReach(reach: Reach): RawBuilder<boolean> {
  if (reach === 'everything') return sql<boolean>`true`
  const { organizations, teams } = reach
  // A team of the same id may have been in another organization before.
  return sql<boolean>`(gateway_batch.organization_id = ANY(${organizations}::text[]) OR EXISTS (
    SELECT FROM gateway_team AS team WHERE team.team_id = gateway_batch.team_id AND team.team_id = ANY(${teams}::text[])
      AND team.organization_id IS NOT DISTINCT FROM gateway_batch.organization_id))`
}

const SHOWN = sql`
  SELECT ${sql.join(BATCH_COLUMNS.map((name) => sql.ref(`gateway_batch.${name}`)))}, key_name, team_name,
    coalesce(running.items, 0)::integer AS running,
    coalesce(recent.items * 60 / greatest(extract(epoch FROM now() - recent.since), 1), 0)::float8 AS items_per_minute
  FROM gateway_batch
    LEFT JOIN gateway_key ON gateway_key.key_id = gateway_batch.key_id
    LEFT JOIN gateway_team ON gateway_team.team_id = gateway_batch.team_id
    LEFT JOIN LATERAL (
      SELECT count(*) AS items FROM gateway_batch_item AS item
      WHERE item.batch_id = gateway_batch.batch_id AND ${isRunning} AND ${UNFINISHED}) AS running ON true
    LEFT JOIN LATERAL (
      SELECT count(*) AS items, min(ended_at) AS since FROM (
        SELECT ended_at FROM gateway_batch_item AS item
        WHERE item.batch_id = gateway_batch.batch_id AND gateway_batch.status = 'in_progress'
        ORDER BY item.item DESC LIMIT ${RECENT_ITEMS}) AS last
      WHERE ended_at > now() - interval '1 minute') AS recent ON true`

export function administeredBatches(database: Sql): AdministeredBatches {
  return {
    page({ reach, filters, after, limit }) {
      const wanted = Object.entries(filters).filter(([, value]) => value !== undefined)
      const conditions = [
        withinReach(reach),
        ...wanted.map(([name, value]) => sql`${sql.ref(`gateway_batch.${name}`)} = ${value}`),
        ...(after
          ? [sql`(gateway_batch.created_at, gateway_batch.batch_id) < (${after.created_at}, ${after.batch_id})`]
          : []),
      ]
      return rowsOf(
        database,
        sql<AdministeredBatch>`${SHOWN} WHERE ${sql.join(conditions, sql` AND `)}
          ORDER BY gateway_batch.created_at DESC, gateway_batch.batch_id DESC LIMIT ${limit}`,
      )
    },
    async find(batchId, reach) {
      const found = sql<AdministeredBatch>`${SHOWN} WHERE gateway_batch.batch_id = ${batchId} AND ${withinReach(reach)}`
      return (await rowsOf(database, found))[0]
    },
    async oldestError(batchId) {
      const first = (condition: RawBuilder<unknown>) => sql<ItemError>`
        SELECT item, custom_id, coalesce(error_code, last_error, 'status ' || status) AS error,
          coalesce(ended_at, claimed_at) AS at
        FROM gateway_batch_item WHERE batch_id = ${batchId} AND ${condition} ORDER BY item LIMIT 1`
      const [[failed], [waiting]] = await batchOf<[ItemError, ItemError]>(database, [
        first(sql`state = 'failed'`),
        first(sql`state = 'open' AND last_error IS NOT NULL`),
      ])
      return failed && waiting ? (failed.item < waiting.item ? failed : waiting) : (failed ?? waiting)
    },
    items: (batchId, { state, after, limit }) =>
      rowsOf(
        database,
        sql<BatchItem>`
          SELECT * FROM (
            SELECT item, line, custom_id,
              CASE WHEN ${isRunning} THEN 'running' WHEN state = 'open' THEN 'waiting' ELSE state END AS state,
              status, coalesce(error_code, last_error) AS error, tries, call_id, input_tokens, output_tokens, cost_nano,
              claimed_at, ended_at
            FROM gateway_batch_item AS item WHERE batch_id = ${batchId} AND item.item > ${after}) AS shown
          WHERE ${state ?? null}::text IS NULL OR state = ${state ?? null} ORDER BY item LIMIT ${limit}`,
      ),
    async file(fileId) {
      const found = sql<{ file_id: string; filename: string; bytes: string }>`
        SELECT file_id, filename, bytes FROM gateway_file
        WHERE file_id = ${fileId} AND state = 'ready' AND expires_at > now()`
      return (await rowsOf(database, found))[0]
    },
    async answered(batchId, after, limit) {
      const page = sql<{ item: number }>`
        SELECT item FROM gateway_batch_item
        WHERE batch_id = ${batchId} AND state = 'completed' AND item > ${after} ORDER BY item LIMIT ${limit}`
      return (await rowsOf(database, page)).map(({ item }) => item)
    },
  }
}
