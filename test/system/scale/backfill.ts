import { setTimeout as wait } from 'node:timers/promises'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { place, SOURCES } from '../../runtimes/node/gateway-process.ts'

// How long a gateway takes to fill the tables that are derived from the ledger, and what calls beside it take, over a
// database that test/system/scale/console.ts has filled:
//   DATABASE_URL=… node test/system/scale/backfill.ts [calls a second, 20]
const rate = Number(process.argv[2] ?? 20)
const url = process.env.DATABASE_URL
if (url === undefined) throw new Error('DATABASE_URL is not set')
const DERIVED = [
  'gateway_spend_total',
  'gateway_spend_tag',
  'gateway_spend_key_day',
  'gateway_spend_served',
  'gateway_spend_ranking',
]
/** What calls take without it is measured for so long. */
const ALONE_MS = 20_000

const sql = nodePostgresSql({ connectionString: url, timeoutMs: 600_000 })
const rows = async (text: string) => (await sql.query<Record<string, string>>({ sql: text, parameters: [] })).rows
const home = await place(SOURCES)
const print = (line: string) => process.stdout.write(`${line}\n`)

/** What calls took, and how long the last ones took to come into the ledger. */
async function calling(gateway: Awaited<ReturnType<typeof home.start>>, key: string, isOver: () => Promise<boolean>) {
  const times: number[] = []
  const statuses: Record<number, number> = {}
  let over = false
  const watch = (async () => {
    while (!over) {
      await wait(1000)
      over = await isOver()
    }
  })()
  const open = new Set<Promise<void>>()
  while (!over) {
    const began = performance.now()
    const call = gateway
      .chat({ model: 'm', max_tokens: 5 }, { headers: { authorization: `Bearer ${key}` } })
      .then(async (answer) => {
        await answer.text()
        times.push(performance.now() - began)
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      })
    open.add(call.finally(() => open.delete(call)))
    await wait(1000 / rate)
  }
  await Promise.all([...open, watch])
  times.sort((one, other) => one - other)
  const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1)
  return `${JSON.stringify(statuses)}, ms ${at(0.5)} median, ${at(0.95)} 95 %, ${at(0.99)} 99 %, ${at(1)} worst`
}

try {
  const gateway = await home.start({
    yaml: 'general_settings: { log_level: warn }\nmodel_list: [{ model_name: m, gateway_params: { model: echo/m } }]\n',
    env: { DATABASE_URL: url, GATEWAY_SALT_KEY: 'the salt of what is measured' },
  })
  await gateway.greeted()
  const made = await gateway.fetch('/ui/api/keys', {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  })
  const { key } = (await made.json()) as { key: string }
  const aloneUntil = Date.now() + ALONE_MS
  print(`alone: ${await calling(gateway, key, async () => Date.now() > aloneUntil)}`)
  for (const table of DERIVED) await rows(`TRUNCATE ${table}`)
  // The fillings that are over in a process stay so: another one begins anew.
  await rows('UPDATE gateway_backfill SET begun_at = now(), filled_to = NULL, filled_at = NULL')
  await home.end()
  const again = await home.start({
    yaml: 'general_settings: { log_level: warn }\nmodel_list: [{ model_name: m, gateway_params: { model: echo/m } }]\n',
    env: { DATABASE_URL: url, GATEWAY_SALT_KEY: 'the salt of what is measured' },
  })
  await again.greeted()
  const began = performance.now()
  const since = () => `${((performance.now() - began) / 1000).toFixed(0)} s`
  const told = new Set<string>()
  const said = await calling(again, key, async () => {
    const filled = await rows('SELECT target FROM gateway_backfill WHERE filled_at IS NOT NULL')
    for (const { target } of filled) {
      if (target !== undefined && !told.has(target)) print(`${target} is filled after ${since()}`)
      told.add(target as string)
    }
    return told.size === 4
  })
  print(`beside: ${said}`)
  const lag = await rows(
    "SELECT round(extract(epoch FROM now() - max(at))::numeric, 1) AS seconds, count(*) AS calls FROM gateway_spend WHERE at > now() - interval '1 hour'",
  )
  print(`the ledger: ${JSON.stringify(lag[0])}`)
  if (again.errors() !== '') print(again.errors())
} finally {
  await home.clear()
  await sql.close()
}
