import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { batchFiles } from '../../../src/batch/files/batch-files.ts'
import { retention } from '../../../src/batch/files/retention.ts'
import { jsonLog } from '../../../src/lib/log.ts'
import type { Blobs } from '../../../src/stores/blobs/blobs.ts'
import { fileRecords } from '../../../src/stores/sql/batches/file-records.ts'
import { retentionRecords } from '../../../src/stores/sql/batches/retention-records.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { noBlobs } from '../../support/nothing.ts'
import { preparedSql } from '../../support/prepared-database.ts'

const settings = { batch_max_file_bytes: 1000, batch_max_line_bytes: 100, file_retention_days: 30 }
const running = new AbortController().signal

describe('what is kept no longer', () => {
  let sql: Sql
  const stored = new Set<string>()
  let isAway = false
  const blobs: Blobs = {
    ...noBlobs,
    async remove(key) {
      if (isAway) throw new Error('the storage is away')
      stored.delete(key)
    },
  }
  const run = () => {
    const log = jsonLog('silent', () => {})
    const files = batchFiles({ records: fileRecords(sql), blobs, settings, log })
    return retention(files, retentionRecords(sql), settings)(running)
  }
  const ask = async <Row>(text: string, ...parameters: unknown[]) =>
    (await sql.query<Row>({ sql: text, parameters })).rows
  const column = async (text: string) => (await ask<{ id: string }>(text)).map(({ id }) => id)
  const files = () => column('SELECT file_id AS id FROM gateway_file ORDER BY file_id')

  async function file(id: string, state: string, createdAgo: string, expiresIn: string): Promise<void> {
    await ask(
      `INSERT INTO gateway_file (file_id, purpose, filename, state, key_id, created_at, expires_at)
       VALUES ($1, 'batch', 'x', $2, 'k', now() - $3::interval, now() + $4::interval)`,
      id,
      state,
      createdAgo,
      expiresIn,
    )
    stored.add(`files/${id}`)
  }
  const batch = (id: string, fileId: string, status: string, createdAgo: string) =>
    ask(
      `INSERT INTO gateway_batch (batch_id, endpoint, input_file_id, status, key_id, created_at, expires_at)
       VALUES ($1, '/v1/embeddings', $2, $3, 'k', now() - $4::interval, now())`,
      id,
      fileId,
      status,
      createdAgo,
    )
  const items = (id: string, count: number) =>
    ask(
      `INSERT INTO gateway_batch_item (batch_id, item, due_at) SELECT $1, item, now() FROM generate_series(0, $2::int - 1) item`,
      id,
      count,
    )

  beforeAll(async () => {
    sql = await preparedSql()
  })
  afterAll(() => sql.close())

  it('goes, content and row together; what is read, young or good stays', async () => {
    await file('expired', 'ready', '31 days', '-1 day')
    await file('expired-now', 'ready', '30 days', '-1 second')
    await file('good', 'ready', '1 day', '29 days')
    await file('in-use', 'ready', '31 days', '-1 day')
    await batch('b-in-use', 'in-use', 'in_progress', '1 day')
    await file('uploading', 'uploading', '23 hours', '30 days')
    await file('killed', 'uploading', '25 hours', '29 days')
    await file('taken', 'removing', '1 minute', '30 days')
    await run()
    expect(await files()).toEqual(['expired-now', 'good', 'in-use', 'uploading'])
    expect([...stored].sort()).toEqual(['expired-now', 'good', 'in-use', 'uploading'].map((id) => `files/${id}`))
    await ask("UPDATE gateway_batch SET status = 'completed'")
    await run()
    expect(await files()).toEqual(['expired-now', 'good', 'uploading'])
  })

  it('keeps its row while the storage is away, so that the next run ends it', async () => {
    await file('late', 'ready', '31 days', '-1 day')
    isAway = true
    await expect(run()).rejects.toThrow('the storage is away')
    isAway = false
    expect(await files()).toContain('late')
    await run()
    expect(await files()).not.toContain('late')
    expect(stored).not.toContain('files/late')
  })

  it('goes however much it is', async () => {
    for (let count = 0; count < 120; count++) await file(`many-${count}`, 'ready', '31 days', '-1 day')
    await run()
    expect((await files()).filter((id) => id.startsWith('many'))).toEqual([])
  })

  it('of a batch are its items, with its input; the batch itself once it is old', async () => {
    await ask('DELETE FROM gateway_batch')
    await batch('with-input', 'good', 'completed', '40 days')
    await batch('young', 'gone', 'completed', '1 day')
    await batch('old', 'gone', 'failed', '31 days')
    await batch('running', 'gone', 'finalizing', '31 days')
    for (const id of ['with-input', 'young', 'old', 'running']) await items(id, 3)
    await batch('large', 'gone', 'cancelled', '31 days')
    await items('large', 25_000)
    await run()
    expect(await column('SELECT batch_id AS id FROM gateway_batch ORDER BY batch_id')).toEqual([
      'running',
      'with-input',
      'young',
    ])
    expect(await column('SELECT DISTINCT batch_id AS id FROM gateway_batch_item ORDER BY batch_id')).toEqual([
      'running',
      'with-input',
    ])
  })
})
