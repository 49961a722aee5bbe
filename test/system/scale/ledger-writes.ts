import { readFileSync } from 'node:fs'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../../src/stores/sql/schema/apply-schema.ts'
import { ledger } from '../../../src/telemetry/ledger.ts'
import { finishedCall } from '../../support/finished-calls.ts'
import { freshDatabase, startPostgres } from '../../support/postgres.ts'
import { seededRandom } from '../../support/random.ts'

// What PostgreSQL takes to add a call to the ledger, in batches of several sizes: time of its processor, which a busy machine
// changes little, and bytes of its log, which nothing changes.
//   node test/system/scale/ledger-writes.ts [calls of each size, 20000]
const CALLS = Number(process.argv[2] ?? 20_000)
const KEYS = 5000

const server = await startPostgres()
if (!server) throw new Error('PostgreSQL is not installed')
try {
  for (const size of [1, 20, 200]) {
    const sql = nodePostgresSql({ connectionString: await freshDatabase(server.url), connections: 1 })
    const run = async (text: string) => (await sql.query<Record<string, string>>({ sql: text, parameters: [] })).rows[0]
    await applySchema(sql, readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8'))
    const random = seededRandom(3).next
    let calls = 0
    const call = () => {
      // A few keys make most calls, over an hour.
      const key = Math.floor(KEYS * random() ** 4)
      const model = (key + Math.floor(2 * random())) % 12
      const at = new Date(Date.UTC(2026, 4, 5, 10) + (3_600_000 * calls++) / CALLS).toISOString()
      return finishedCall({
        callId: `call_${size}_${calls}`,
        at,
        keyId: `key-${key}`,
        teamId: `team-${key % 100}`,
        organizationId: `org-${key % 10}`,
        userId: key % 2 === 0 ? `user-${key % 1000}` : '',
        model: `model-${model}`,
        deployment: `model-${model}-${calls % 2}`,
        provider: `provider-${model % 5}`,
        tags: calls % 10 === 0 ? ['tagged'] : [],
        charges: [{ subject: `key:key-${key}`, period: '' }],
      })
    }
    const add = async (count: number) => {
      for (let added = 0; added < count; added += size) await ledger.write(sql, Array.from({ length: size }, call))
    }
    const state = async () => {
      const row = await run("SELECT pg_backend_pid() AS pid, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal")
      const used = readFileSync(`/proc/${row?.pid}/schedstat`, 'utf8').split(' ')[0]
      return { ms: Number(used) / 1e6, bytes: Number(row?.wal) }
    }
    await add(CALLS / 4)
    const before = await state()
    await add(CALLS)
    const after = await state()
    const [ms, bytes] = [(after.ms - before.ms) / CALLS, (after.bytes - before.bytes) / CALLS]
    process.stdout.write(`batches of ${size}: ${ms.toFixed(3)} ms and ${bytes.toFixed(0)} bytes a call\n`)
    await sql.close()
  }
} finally {
  await server.stop()
}
