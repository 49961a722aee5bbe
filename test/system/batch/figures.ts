import { isOver, startBatchPlace } from '../../support/batch-workers.node.ts'
import { freshDatabase, startPostgres } from '../../support/postgres.ts'

// How fast items run against a provider that answers in 20 ms, and what they cost, over the number of calls at once:
// `node test/system/batch/figures.ts [items] [calls at once …]`.

const [items = 5000, ...concurrencies] = process.argv.slice(2).map(Number)
const server = await startPostgres()
if (!server) throw new Error('this needs PostgreSQL')
try {
  for (const concurrency of concurrencies.length > 0 ? concurrencies : [16, 64, 256]) await measure(concurrency)
} finally {
  await server.stop()
}

async function measure(concurrency: number): Promise<void> {
  const place = await startBatchPlace(
    (server as { url: string }).url,
    { batch_concurrency: concurrency },
    freshDatabase,
  )
  try {
    let statements = 0
    place.provider = () => new Promise((resolve) => setTimeout(() => resolve({}), 20))
    const id = await place.batch({ id: `batch_${concurrency}`, requests: items })
    const services = place.services({
      sql: (sql) => ({
        ...sql,
        query(statement) {
          statements += 1
          return sql.query(statement)
        },
        batch(several) {
          statements += several.length
          return sql.batch(several)
        },
      }),
    })
    let peak = 0
    const watching = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss())
    }, 50)
    const before = process.cpuUsage()
    const begunAt = performance.now()
    services.batchWorker.start()
    const batch = await place.until(id, ({ completed }) => completed === items, 600_000)
    const seconds = (performance.now() - begunAt) / 1000
    const { user, system } = process.cpuUsage(before)
    clearInterval(watching)
    await place.until(id, isOver, 60_000)
    const told = [
      `${concurrency} at once: ${batch.completed} items in ${seconds.toFixed(1)} s, ${Math.round(items / seconds)} a second`,
      `${(statements / items).toFixed(3)} statements an item`,
      `${((user + system) / 1000 / items).toFixed(2)} ms of CPU an item`,
      `${Math.round(peak / 1048576)} MiB resident at most`,
    ]
    process.stdout.write(`${told.join(', ')}\n`)
  } finally {
    await place.close()
  }
}
