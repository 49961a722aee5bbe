import { readFileSync } from 'node:fs'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { itemRecords } from '../../../src/stores/sql/batches/item-records.ts'
import { applySchema } from '../../../src/stores/sql/schema/apply-schema.ts'
import { startPostgres } from '../../support/postgres.ts'

// What a claim costs beside a million waiting items: `node test/system/batch/claims.ts`.

const MILLION = 1_000_000
const server = await startPostgres()
if (!server) throw new Error('this needs PostgreSQL')
const sql = nodePostgresSql({ connectionString: server.url })
const run = (text: string) => sql.query({ sql: text, parameters: [] })
await applySchema(sql, readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8'))
const records = itemRecords(sql)

async function measure(name: string): Promise<void> {
  const times: number[] = []
  for (let claim = 0; claim < 300; claim++) {
    const begunAt = performance.now()
    const claimed = await records.claim(`${name}-${claim}`, { most: 16, except: [], leaseSeconds: 30 })
    times.push(performance.now() - begunAt)
    if (claimed?.items.length !== 16) throw new Error(`${claimed?.items.length} items were claimed`)
  }
  times.sort((one, other) => one - other)
  const at = (share: number) => (times[Math.floor(share * times.length)] as number).toFixed(2)
  process.stdout.write(`${name}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, longest ${at(0.999)} ms\n`)
}

const batch = (id: string, next: number) =>
  run(`INSERT INTO gateway_batch (batch_id, endpoint, input_file_id, status, key_id, requests, next_item, in_progress_at,
      checkpoints, expires_at)
    SELECT '${id}', '/v1/embeddings', 'f', 'in_progress', 'k', ${MILLION}, ${next}, now(),
      (SELECT json_agg(json_build_object('offset', k * 20000, 'line', k * 64 + 1)) FROM generate_series(0, 15624) k),
      now() + interval '1 day'`)

try {
  await batch('fresh', 0)
  await measure('a million fresh items')
  await run('TRUNCATE gateway_batch_item, gateway_batch')
  await batch('returned', MILLION)
  await run(`INSERT INTO gateway_batch_item (batch_id, item, due_at)
    SELECT 'returned', item, now() - random() * interval '1 hour' FROM generate_series(0, ${MILLION - 1}) item`)
  await run('ANALYZE')
  await measure('a million returned items')
  await run("UPDATE gateway_batch_item SET token = NULL, due_at = now() + interval '1 hour' WHERE state = 'open'")
  await run(`UPDATE gateway_batch_item SET due_at = now() WHERE item < 10000`)
  await measure('a million that wait, ten thousand due')
} finally {
  await sql.close()
  await server.stop()
}
