import { readdirSync, readFileSync } from 'node:fs'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../../src/stores/sql/schema/apply-schema.ts'
import { place, SOURCES } from '../../runtimes/node/gateway-process.ts'
import { freshDatabase, startPostgres } from '../../support/postgres.ts'
import { fillForConsole } from './console-data.ts'
import { consoleRequests } from './console-requests.ts'

// How long a gateway takes for every request of the console's pages, over so many calls and keys, slowest first:
//   node test/system/scale/console.ts [calls, 10000000] [keys, 100000] [turns, 5]
// With DATABASE_URL it asks over the database there, which it fills if it holds no calls.
const [calls = 10_000_000, keys = 100_000, turns = 5] = process.argv.slice(2).map(Number)
const MOST_MS = 200
const LONGEST_MS = 24 * 3_600_000

const server = process.env.DATABASE_URL ? undefined : await startPostgres()
const url = process.env.DATABASE_URL ?? (server && (await freshDatabase(server.url)))
if (url === undefined) throw new Error('PostgreSQL is not installed: set DATABASE_URL')
const sql = nodePostgresSql({ connectionString: url, timeoutMs: LONGEST_MS })
const home = await place(SOURCES)

/** What processes have had of the processors, in milliseconds; they run on this machine. */
function processorMs(pids: readonly number[]): number {
  let sum = 0
  for (const pid of pids) {
    try {
      for (const task of readdirSync(`/proc/${pid}/task`)) {
        sum += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6
      }
    } catch (error) {
      // It has ended meanwhile.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
  return sum
}

async function serversPids(): Promise<number[]> {
  const text = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`
  return (await sql.query<{ pid: number }>({ sql: text, parameters: [] })).rows.map(({ pid }) => pid)
}

const quantile = (values: readonly number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0

try {
  await applySchema(sql, readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8'))
  const { rows } = await sql.query({ sql: 'SELECT FROM gateway_spend LIMIT 1', parameters: [] })
  if (rows.length === 0) await fillForConsole(sql, { calls, keys })
  // What the workers of a parallel query have had of the processors is gone with them.
  const serial = `DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET max_parallel_workers_per_gather = 0', current_database()); END $$`
  await sql.query({ sql: serial, parameters: [] })
  const gateway = await home.start({
    yaml: 'general_settings: { log_level: warn, embeddings_batch_enabled: true }\nmodel_list: [{ model_name: m, gateway_params: { model: echo/m } }]\n',
    // The same in every run over a database that is kept.
    env: { DATABASE_URL: url, GATEWAY_SALT_KEY: 'the salt of what is measured' },
  })
  await gateway.greeted()
  const measured: { page: string; path: string; median: number; worst: number; processors: number }[] = []
  for (const { page, path } of consoleRequests(Date.now())) {
    const times: number[] = []
    const used: number[] = []
    for (let turn = 0; turn < turns; turn++) {
      const pids = [gateway.pid, ...(await serversPids())]
      const before = processorMs(pids)
      const began = performance.now()
      const response = await gateway.fetch(path)
      const body = await response.text()
      times.push(performance.now() - began)
      used.push(processorMs(pids) - before)
      if (!response.ok) process.stderr.write(`${path} was answered ${response.status} ${body}\n`)
    }
    measured.push({
      page,
      path,
      median: quantile(times, 0.5),
      worst: quantile(times, 0.95),
      processors: quantile(used, 0.5),
    })
  }
  const ms = (value: number) => value.toFixed(0).padStart(7)
  process.stdout.write(`${calls} calls, ${keys} keys: milliseconds, as the median and 95th percentile of ${turns}, and
of the processors' time, which other work on this machine adds less to\n median     95%    used\n`)
  for (const { page, path, median, worst, processors } of measured.toSorted((a, b) => b.processors - a.processors)) {
    const mark = median > MOST_MS ? ` > ${MOST_MS}` : ''
    process.stdout.write(`${ms(median)} ${ms(worst)} ${ms(processors)}  ${page.padEnd(13)} ${path}${mark}\n`)
  }
} finally {
  await home.clear()
  await sql.close()
  await server?.stop()
}
