import { type RawBuilder, sql } from 'kysely'
import { statementOf } from '../query.ts'
import type { Sql } from '../sql.ts'
import { UNFINISHED } from './unfinished.ts'

/** What batches left, whose input file is gone. Each step removes so much at most, and resolves with how much it was. */
export interface RetentionRecords {
  /** The items of one batch. */
  removeItems(limit: number): Promise<number>
  /** Batches that are older, and have no items any more. */
  removeBatches(retentionSeconds: number, limit: number): Promise<number>
}

const HAS_ENDED = sql<boolean>`NOT ${UNFINISHED}
  AND NOT EXISTS (SELECT FROM gateway_file WHERE file_id = gateway_batch.input_file_id)`
const HAS_ITEMS = sql<boolean>`
  EXISTS (SELECT FROM gateway_batch_item WHERE gateway_batch_item.batch_id = gateway_batch.batch_id)`

export function retentionRecords(database: Sql): RetentionRecords {
  const affectedBy = async (statement: RawBuilder<unknown>) => (await database.query(statementOf(statement))).affected

  return {
    removeItems: (limit) =>
      affectedBy(sql`
        DELETE FROM gateway_batch_item WHERE (batch_id, item) IN (
          SELECT ended.batch_id, portion.item
          FROM (SELECT batch_id FROM gateway_batch WHERE ${HAS_ENDED} AND ${HAS_ITEMS} LIMIT 1) AS ended
            CROSS JOIN LATERAL (
              SELECT item FROM gateway_batch_item WHERE batch_id = ended.batch_id LIMIT ${limit}) AS portion)`),
    removeBatches: (retentionSeconds, limit) =>
      affectedBy(sql`
        DELETE FROM gateway_batch WHERE batch_id IN (
          SELECT batch_id FROM gateway_batch
          WHERE ${HAS_ENDED} AND NOT ${HAS_ITEMS} AND created_at < now() - make_interval(secs => ${retentionSeconds})
          LIMIT ${limit})`),
  }
}
