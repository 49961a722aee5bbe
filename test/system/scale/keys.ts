import { readFileSync } from 'node:fs'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { keyRecords } from '../../../src/stores/sql/records/key-records.ts'
import { applySchema } from '../../../src/stores/sql/schema/apply-schema.ts'
import { recordFacts } from '../../../src/stores/sql/scopes/record-facts.ts'
import { RECORD_ORDERS } from '../../../src/stores/sql/scopes/record-order.ts'
import { usedBudgets } from '../../../src/stores/sql/scopes/used-budgets.ts'
import { freshDatabase, startPostgres } from '../../support/postgres.ts'

/** How long lists of keys and of budgets take the database, over so many keys: `node test/system/scale/keys.ts 100000`. */
const KEYS = Number(process.argv[2] ?? 100_000)

const server = await startPostgres()
if (!server) throw new Error('PostgreSQL is not installed')
const sql = nodePostgresSql({ connectionString: await freshDatabase(server.url), timeoutMs: 3_600_000 })
const run = (text: string) => sql.query({ sql: text, parameters: [] })

try {
  await applySchema(sql, readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8'))
  await run("INSERT INTO gateway_organization (organization_id) SELECT 'org-' || n FROM generate_series(0, 9) AS n")
  await run(`
    INSERT INTO gateway_team (team_id, organization_id) SELECT 'team-' || n, 'org-' || n % 10 FROM generate_series(0, 99) AS n`)
  await run(`
    INSERT INTO gateway_key (key_id, key_hash, key_name, team_id, organization_id, max_budget, budget_duration, created_at,
      budget_started_at)
    SELECT 'key-' || md5(n::text), md5(n::text), 'Key ' || n, 'team-' || n % 100, 'org-' || n % 10,
      CASE WHEN n % 3 = 0 THEN 10 END, CASE WHEN n % 2 = 0 THEN '30d' END, now() - n * interval '1 minute',
      timestamptz '2026-01-01'
    FROM generate_series(1, ${KEYS}) AS n`)
  await run(`
    INSERT INTO gateway_budget (subject, period, spent_nano)
    SELECT 'key:' || key_id || coalesce('@' || budget_duration, ''),
      CASE WHEN budget_duration IS NULL THEN '' ELSE '2026-11-27T00:00:00.000Z' END, floor(random() * 10000000000)
    FROM gateway_key`)
  await run("INSERT INTO gateway_key_use SELECT key_id, now() - random() * interval '30 days' FROM gateway_key")
  await run('ANALYZE')
  const records = keyRecords(sql)
  const facts = recordFacts(sql)
  const budgets = usedBudgets(sql)
  const page = { search: '', limit: 101, where: {} }
  const org = { organizations: ['org-7'], teams: [] }
  const everything = { organization: 'everything', team: 'everything', user: 'everything', key: 'everything' } as const
  const first = await records.page({ ...page, reach: 'everything' })
  const pages: Record<string, () => Promise<unknown>> = {
    ...Object.fromEntries(
      RECORD_ORDERS.flatMap((order) => [
        [`by ${order}`, () => records.page({ ...page, reach: 'everything', order })],
        [`by ${order}, one organization`, () => records.page({ ...page, reach: org, order })],
      ]),
    ),
    'over budget': () => records.page({ ...page, reach: 'everything', filters: { state: 'over_budget' } }),
    'end before': () =>
      records.page({ ...page, reach: 'everything', filters: { ends_before: '2027-01-01T00:00:00Z' } }),
    'names and last use of a page': () => facts.ofKeys(first),
    'counts of 100 teams': () =>
      facts.ofTeams(Array.from({ length: 100 }, (_, n) => ({ team_id: `team-${n}`, organization_id: null }))),
    'budgets above 0.8': () => budgets.page(everything, { above: 0.8, places: [], limit: 51 }),
  }
  for (const [name, ask] of Object.entries(pages)) {
    const times: number[] = []
    for (let time = 0; time < 5; time++) {
      const begun = performance.now()
      await ask()
      times.push(performance.now() - begun)
    }
    process.stdout.write(`${name}: ${times.sort((one, other) => one - other)[2]?.toFixed(1)} ms\n`)
  }
} finally {
  await sql.close()
  await server.stop()
}
