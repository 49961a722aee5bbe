import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UpdateObject } from 'kysely'
import { contentKey, newBatchId } from '../../src/batch/batch-ids.ts'
import type { Blobs } from '../../src/stores/blobs/blobs.ts'
import { folderBlobs } from '../../src/stores/blobs/folder.node.ts'
import { BATCH_COLUMNS, type BatchRecord } from '../../src/stores/sql/batches/batch-records.ts'
import { queries, rowsOf } from '../../src/stores/sql/query.ts'
import type { Schema } from '../../src/stores/sql/schema/schema.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import { plantFile } from './batches.ts'
import { preparedEmbeddedSql } from './embedded-database.node.ts'

type BatchChange = UpdateObject<Schema, 'gateway_batch'>

/** A database and a store of blobs, in which batches lie as their clients and other processes have left them. */
export interface BatchPlace {
  readonly sql: Sql
  readonly blobs: Blobs
  /** A batch of the master key with this input. Resolves with its id. */
  plant(input: string | Uint8Array, more?: BatchChange): Promise<string>
  batch(id: string): Promise<BatchRecord>
  change(id: string, values: BatchChange): Promise<void>
  text(fileId: string): Promise<string | undefined>
  close(): Promise<void>
}

export async function batchPlace(): Promise<BatchPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-batches-'))
  const sql = await preparedEmbeddedSql()
  const blobs = folderBlobs(folder)
  const change = async (id: string, values: BatchChange) => {
    await rowsOf(sql, queries.updateTable('gateway_batch').set(values).where('batch_id', '=', id))
  }
  return {
    sql,
    blobs,
    change,
    async plant(input, more) {
      const fileId = await plantFile(sql, { key_id: 'master_key' })
      const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
      await blobs.put(contentKey(fileId), bytes, 'application/jsonl')
      await rowsOf(
        sql,
        queries.updateTable('gateway_file').set({ bytes: bytes.byteLength }).where('file_id', '=', fileId),
      )
      const batch_id = newBatchId()
      await rowsOf(
        sql,
        queries.insertInto('gateway_batch').values({
          batch_id,
          endpoint: '/v1/chat/completions',
          input_file_id: fileId,
          key_id: 'master_key',
          expires_at: new Date(Date.now() + 86_400_000).toISOString(),
        }),
      )
      if (more) await change(batch_id, more)
      return batch_id
    },
    async batch(id) {
      const query = queries.selectFrom('gateway_batch').select(BATCH_COLUMNS).where('batch_id', '=', id)
      return (await rowsOf(sql, query))[0] as BatchRecord
    },
    async text(fileId) {
      const blob = await blobs.get(contentKey(fileId))
      return blob && new Response(blob.body).text()
    },
    async close() {
      await sql.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
