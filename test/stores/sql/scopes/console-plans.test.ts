import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { keyRecords } from '../../../../src/stores/sql/records/key-records.ts'
import { organizationRecords } from '../../../../src/stores/sql/records/organization-records.ts'
import { teamRecords } from '../../../../src/stores/sql/records/team-records.ts'
import { userRecords } from '../../../../src/stores/sql/records/user-records.ts'
import { applySchema } from '../../../../src/stores/sql/schema/apply-schema.ts'
import { spendReports } from '../../../../src/stores/sql/spend/spend-reports.ts'
import type { Sql, Statement } from '../../../../src/stores/sql/sql.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')

const list = { reach: 'everything', search: '', limit: 101, where: {} } as const
const range = { from: '2026-10-01T05:00:00.000Z', to: '2026-10-31T05:00:00.000Z' }
const team = { organizations: [], teams: ['team-1'] }
const split = { by: 'day', splitBy: 'model', top: 7, offset: 0, limit: 10_000 } as const

type Asked = Readonly<Record<string, readonly [(sql: Sql) => Promise<unknown>, ...string[]]>>

/** Lists in their orders, and the indexes that give a page of them without the others. */
const ORDERED: Asked = {
  'keys by name': [(sql) => keyRecords(sql).page({ ...list, order: 'name' }), 'gateway_key_name'],
  'keys by name, further on': [
    (sql) => keyRecords(sql).page({ ...list, order: 'name', after: { value: 'key 7', id: 'key-7' } }),
    'gateway_key_name',
  ],
  'keys by creation': [(sql) => keyRecords(sql).page({ ...list, order: 'created_at' }), 'gateway_key_created'],
  'keys by last use': [(sql) => keyRecords(sql).page({ ...list, order: 'last_used_at' }), 'gateway_key_use_time'],
  'keys by spend': [
    (sql) => keyRecords(sql).page({ ...list, order: 'spend' }),
    'gateway_budget_spent',
    'gateway_key_subject',
  ],
  'keys by spend, of very many that are searched for': [
    (sql) => keyRecords(sql).page({ ...list, order: 'spend', search: 'key 1' }),
    'gateway_budget_spent',
    'gateway_key_subject',
  ],
  'teams by name': [(sql) => teamRecords(sql).page({ ...list, order: 'name' }), 'gateway_team_name'],
  'teams by spend': [
    (sql) => teamRecords(sql).page({ ...list, order: 'spend' }),
    'gateway_budget_spent',
    'gateway_team_subject',
  ],
  'users by creation': [(sql) => userRecords(sql).page({ ...list, order: 'created_at' }), 'gateway_user_created'],
  'users by spend': [
    (sql) => userRecords(sql).page({ ...list, order: 'spend' }),
    'gateway_budget_spent',
    'gateway_user_subject',
  ],
  'organizations by name': [
    (sql) => organizationRecords(sql).page({ ...list, order: 'name' }),
    'gateway_organization_name',
  ],
  'organizations by spend': [
    (sql) => organizationRecords(sql).page({ ...list, order: 'spend' }),
    'gateway_budget_spent',
    'gateway_organization_subject',
  ],
}

/** What is narrowed to a few, and the indexes that find these. */
const NARROWED: Asked = {
  'keys of a team by spend': [
    (sql) => keyRecords(sql).page({ ...list, order: 'spend', where: { team_id: 'team-1' } }),
    'gateway_key_team',
  ],
  'keys by spend, of a few that are searched for': [
    (sql) => keyRecords(sql).page({ ...list, order: 'spend', search: 'key 12' }),
    'gateway_key_pkey',
  ],
  'keys of a person': [(sql) => keyRecords(sql).page({ ...list, where: { user_id: 'user-1' } }), 'gateway_key_user'],
  'spend of a key by model': [
    (sql) => spendReports(sql).split('everything', range, { ...split, key_id: 'key-1' }),
    'gateway_spend_rollup_key',
  ],
  'spend of a person by model': [
    (sql) => spendReports(sql).split('everything', range, { ...split, user_id: 'user-1' }),
    'gateway_spend_rollup_user',
  ],
  'spend of a deployment by model': [
    (sql) => spendReports(sql).split('everything', range, { ...split, deployment: 'd-1' }),
    'gateway_spend_served_pkey',
  ],
  'spend of a deployment by key': [
    (sql) => spendReports(sql).split('everything', range, { ...split, deployment: 'd-1', splitBy: 'key' }),
    'gateway_spend_rollup_deployment',
    'gateway_spend_total_pkey',
  ],
  'spend of some keys among all': [
    (sql) => spendReports(sql).split('everything', range, { ...split, splitBy: 'key' }),
    'gateway_spend_total_pkey',
  ],
  'spend within the reach of a team': [
    (sql) => spendReports(sql).split(team, range, split),
    'gateway_spend_rollup_team',
    'gateway_spend_rollup_organization',
  ],
  'spend of all by model': [(sql) => spendReports(sql).split('everything', range, split), 'gateway_spend_total_pkey'],
}

/** Where scanning and sorting whole tables are forbidden, the planner does either only if no index serves. */
const NO_SCAN = ['SET LOCAL enable_seqscan = off']
const NO_SORT = [...NO_SCAN, 'SET LOCAL enable_sort = off', 'SET LOCAL enable_hashjoin = off']

describe.skipIf(!postgresUrl)('what pages of the console ask', () => {
  let sql: Sql

  beforeAll(async () => {
    sql = nodePostgresSql({ connectionString: await preparedDatabase(postgresUrl), timeoutMs: 60_000 })
    await applySchema(sql, readFileSync(new URL('../../../../schema.sql', import.meta.url), 'utf8'))
    const run = (text: string) => sql.query({ sql: text, parameters: [] })
    for (const [table, id, level] of [
      ['organization', 'org', 'org'],
      ['team', 'team', 'team'],
      ['user', 'user', 'user'],
    ]) {
      await run(`INSERT INTO gateway_${table} (${table}_id, ${table}_name) SELECT '${id}-' || n, 'One ' || n
        FROM generate_series(0, 300) AS n`)
      await run(`INSERT INTO gateway_budget SELECT '${level}:${id}-' || n, '', n FROM generate_series(0, 300) AS n`)
    }
    await run(`INSERT INTO gateway_key (key_id, key_hash, key_name, team_id, user_id)
      SELECT 'key-' || n, n, 'Key ' || n, 'team-' || n % 300, 'user-' || n % 300 FROM generate_series(0, 3000) AS n`)
    await run(`INSERT INTO gateway_budget SELECT 'key:key-' || n, '', n FROM generate_series(0, 3000) AS n`)
    const [grains, zeros] = ["(VALUES ('day'), ('hour')) AS each (grain)", Array(17).fill('0').join(', ')]
    await run(`INSERT INTO gateway_spend_rollup SELECT grain, timestamptz '2026-10-01' + day * interval '1 day', 'key-' || n,
        'user-' || n, 'team-' || n, 'org-' || n, 'model-' || n % 5, 'p', 'd-' || n % 50, ${zeros}
      FROM ${grains}, generate_series(0, 30) AS day, generate_series(0, 150) AS n`)
    await run('INSERT INTO gateway_key_use SELECT key_id, now() FROM gateway_key')
    await run('ANALYZE')
  })
  afterAll(() => sql?.close())

  it.each([
    ...Object.entries(ORDERED).map(([name, [ask, ...indexes]]) => ({ name, ask, indexes, settings: NO_SORT })),
    ...Object.entries(NARROWED).map(([name, [ask, ...indexes]]) => ({ name, ask, indexes, settings: NO_SCAN })),
  ])('$name: read by an index, never whole', async ({ ask, indexes, settings }) => {
    const asked: Statement[] = []
    const listening: Sql = {
      ...sql,
      query(statement) {
        asked.push(statement)
        return sql.query(statement)
      },
    }
    await ask(listening)
    const { sql: text, parameters } = asked.at(-1) as Statement
    const results = await sql.batch([
      ...settings.map((setting) => ({ sql: setting, parameters: [] })),
      { sql: `EXPLAIN (COSTS OFF) ${text}`, parameters },
    ])
    const lines = results.at(-1)?.rows ?? []
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n')
    for (const index of indexes) expect(plan).toMatch(new RegExp(`${index}\\b`))
    expect(plan).not.toMatch(/Seq Scan on gateway_/)
  })

  it.each([
    ['key 12', 111],
    ['key 1', 1111],
    ['key', 3001],
  ])('keys that are found by %s are listed by their spend, page after page', async (search, count) => {
    const listed: string[] = []
    let after: { value: string; id: string } | undefined
    do {
      const page = await keyRecords(sql).page({ ...list, order: 'spend', search, after })
      listed.push(...page.map(({ key_id }) => key_id))
      const last = page.at(-1)
      after = page.length === list.limit && last ? { value: last.order_value, id: last.key_id } : undefined
    } while (after)
    const named = Array.from({ length: 3001 }, (_, n) => 3000 - n).filter((n) => `key ${n}`.includes(search))
    expect(listed).toHaveLength(count)
    expect(listed).toEqual(named.map((n) => `key-${n}`))
  })
})
