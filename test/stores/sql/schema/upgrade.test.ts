import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { secret } from '../../../../src/lib/secret.ts'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { backfill } from '../../../../src/stores/sql/backfill.ts'
import { copyDatabase } from '../../../../src/stores/sql/copy-database.ts'
import { budgetRecords } from '../../../../src/stores/sql/records/budget-records.ts'
import { callerRecords } from '../../../../src/stores/sql/records/caller-records.ts'
import { applySchema } from '../../../../src/stores/sql/schema/apply-schema.ts'
import { requireSameSalt } from '../../../../src/stores/sql/schema/same-salt.ts'
import { LATENCY_SUMS } from '../../../../src/stores/sql/spend/latency-sums.ts'
import { spendLog } from '../../../../src/stores/sql/spend/spend-log.ts'
import { spendReports } from '../../../../src/stores/sql/spend/spend-reports.ts'
import { GROUPINGS, type Grouping } from '../../../../src/stores/sql/spend/spend-source.ts'
import { SPEND_SUMS } from '../../../../src/stores/sql/spend/spend-sums.ts'
import type { Sql, Statement } from '../../../../src/stores/sql/sql.ts'
import { ledger } from '../../../../src/telemetry/ledger.ts'
import { emptyEmbeddedSql } from '../../../support/embedded-database.node.ts'
import { finishedCall } from '../../../support/finished-calls.ts'
import { freshDatabase } from '../../../support/postgres.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { SUM_TABLES, summedUp } from '../../../support/spend-sums.ts'

const postgresUrl = inject('postgresUrl')
const folder = new URL('../../../fixtures/schemas/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const today = readFileSync(new URL('../../../../schema.sql', import.meta.url), 'utf8')
const earlier = readdirSync(folder).filter((name) => name.endsWith('.sql'))

/** The statement of the build of that schema, or of the last one before it that wrote differently. */
function callsOf(schema: string, batch: 0 | 1): Statement | undefined {
  const written = readdirSync(folder).filter((name) => name.endsWith(`.calls-${batch}.json`))
  const last = written.filter((name) => name.slice(0, 2) <= schema.slice(0, 2)).at(-1)
  return last === undefined ? undefined : JSON.parse(read(last))
}

const KEY_ROWS = [
  "INSERT INTO gateway_organization (organization_id, organization_name, max_budget) VALUES ('org-1', 'One', 10)",
  "INSERT INTO gateway_team (team_id, organization_id, rpm_limit) VALUES ('team-1', 'org-1', 60)",
  "INSERT INTO gateway_user (user_id, max_budget) VALUES ('user-1', 0)",
  "INSERT INTO gateway_key (key_id, key_hash, team_id, user_id, max_budget) VALUES ('key-1', 'hash-1', 'team-1', 'user-1', 5)",
  "INSERT INTO gateway_key (key_id, key_hash, revoked_at) VALUES ('key-2', 'hash-2', now())",
  "INSERT INTO gateway_budget (subject, period, spent_nano) VALUES ('key:key-1', '', 4000000000)",
]

const MINUTE = 60_000
/** Long enough for everything that was written until now to count as written. */
const later = () => Date.now() + 16 * MINUTE

let sql: Sql
afterEach(() => sql?.close())
const rows = async (text: string) => (await sql.query({ sql: text, parameters: [] })).rows
const has = async (table: string) => (await rows(`SELECT to_regclass('${table}') AS found`))[0]?.found !== null

/** Steps until nothing is left for now. */
async function fill(now = later()): Promise<number> {
  const tables = backfill(sql)
  let steps = 0
  while (await tables.step(now)) steps += 1
  return steps
}

const range = { from: '2026-10-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' }
const SUM_NAMES: ReadonlySet<string> = new Set(SPEND_SUMS)
const SUMS = Object.entries({
  calls: '1',
  failed_calls: "(ending IN ('failed', 'truncated'))::int",
  cost_nano: 'coalesce(cost_nano, 0)',
  input_tokens: 'input_tokens',
  total_ms: 'total_ms',
})

/** What every report says, and what the rows of the ledger say. */
async function reports(): Promise<{ told: unknown; held: unknown }> {
  const told: Record<string, unknown> = {}
  const held: Record<string, unknown> = {}
  const sums = SUMS.map(([name, term]) => `sum(${term})::float AS ${name}`).join(', ')
  const within = `at >= '${range.from}' AND at < '${range.to}'`
  const ofRow = (row: Record<string, unknown>) =>
    [String(row.group_value ?? ''), ...SUMS.map(([name]) => Number(row[name]))].join(' ')
  const all = await spendReports(sql).totals('everything', range, {})
  told.all = ofRow({ ...all.current })
  held.all = ofRow((await rows(`SELECT ${sums} FROM gateway_spend WHERE ${within}`))[0] ?? {})
  for (const by of Object.keys(GROUPINGS) as Grouping[]) {
    const { column } = GROUPINGS[by]
    const value = column === 'bucket_of' ? `date_trunc('${by}', at, 'UTC')` : column
    const groups = await spendReports(sql).grouped('everything', range, { by, offset: 0, limit: 1000 })
    told[by] = groups.map((row) => ofRow({ ...row })).sort()
    held[by] = (
      await rows(`SELECT ${value} AS group_value, ${sums} FROM gateway_spend${by === 'tag' ? ', unnest(tags) AS tag' : ''}
        WHERE ${within} GROUP BY 1`)
    )
      .map(ofRow)
      .sort()
  }
  for (const tag of ['x', 'y, {z}']) {
    const page = await spendLog(sql).page('everything', { tag, limit: 1000 })
    told[`log of ${tag}`] = page.map(({ call_id }) => call_id)
    held[`log of ${tag}`] = (
      await sql.query<{ call_id: string }>({
        sql: 'SELECT call_id FROM gateway_spend WHERE $1 = ANY(tags) ORDER BY at DESC, call_id DESC',
        parameters: [tag],
      })
    ).rows.map(({ call_id }) => call_id)
  }
  return { told, held }
}

async function expectExactReports(): Promise<void> {
  const { told, held } = await reports()
  expect(told).toEqual(held)
}

/** Every table of sums holds what the rows come to, and nothing else. */
async function expectExactTables(): Promise<void> {
  for (const table of SUM_TABLES) {
    const { columns, query } = summedUp(table)
    const keys = columns.split(', ').filter((name) => !SUM_NAMES.has(name))
    // Distributions of latencies begin with the build that has them: those of earlier calls are not made up for.
    const compared = columns.split(', ').filter((name) => SUM_NAMES.has(name) && !LATENCY_SUMS.has(name))
    const texts = [...keys, ...compared.map((name) => `${name}::float AS ${name}`)].join(', ')
    const sorted = (source: string) => rows(`SELECT ${texts} FROM ${source} AS them ORDER BY ${keys.join(', ')}`)
    expect(await sorted(table), table).toEqual(await sorted(`(${query})`))
  }
  expect(await rows('SELECT tag, at, call_id FROM gateway_spend_tag ORDER BY tag, at, call_id')).toEqual(
    await rows(
      'SELECT tag, at, call_id FROM gateway_spend, unnest(tags) AS tag ORDER BY tag COLLATE "C", at, call_id COLLATE "C"',
    ),
  )
}

const newCalls = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    finishedCall({
      at: index % 2 === 0 ? '2026-11-04T05:30:00.000Z' : '2026-10-04T00:10:00.000Z',
      callId: `call_new_${process.hrtime.bigint()}_${index}`,
      keyId: `key-${1 + (index % 2)}`,
      tags: index % 3 === 0 ? ['x', 'new'] : [],
      costNano: index,
      charges: [{ subject: 'key:key-1', period: '' }],
    }),
  )

async function upgrade(schema: string): Promise<void> {
  await applySchema(sql, read(schema))
  const keyed = await has('gateway_key')
  if (keyed) for (const text of KEY_ROWS) await rows(text)
  const [before, beside] = [callsOf(schema, 0), callsOf(schema, 1)]
  const ledgered = before !== undefined && beside !== undefined
  if (ledgered) await sql.query(before)

  await applySchema(sql, today)
  // From the first moment on.
  await expectExactReports()
  if (keyed) {
    const caller = await callerRecords(sql).byKeyHash('hash-1')
    expect(caller).toMatchObject({ key: { key_id: 'key-1' }, team: { team_id: 'team-1' }, user: { user_id: 'user-1' } })
  }
  // What the former build, which goes on beside this one for a while, writes; and this one.
  if (ledgered) await sql.query(beside)
  await ledger.write(sql, newCalls(6))
  await expectExactReports()
  // Two processes, one of which ends soon, while calls go on.
  const ended = backfill(sql)
  await Promise.all([
    ended.step(later()).then(() => ended.step(later())),
    fill(),
    ledger.write(sql, newCalls(20)),
    ledger.write(sql, newCalls(20)),
  ])
  await fill()
  await expectExactReports()
  await expectExactTables()
  expect(await fill()).toBe(0)
  if (keyed) {
    const spent = await budgetRecords(sql).spent([{ subject: 'key:key-1', period: '' }])
    const [held] = await rows('SELECT sum(cost_nano)::float AS nano FROM gateway_spend')
    expect(spent).toEqual([4_000_000_000 + Number(held?.nano ?? 0)])
  }
}

/** What statements can tell of a database's shape. */
async function shape(): Promise<readonly string[]> {
  const described = await rows(`
    SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, coalesce(column_default, '-'),
      coalesce(collation_name, '-')) AS line
    FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT relname || ' ' || coalesce(reloptions::text, '') FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S')`)
  return described.map(({ line }) => String(line)).sort()
}

async function over(): Promise<boolean> {
  const tables = backfill(sql)
  await tables.step(Date.now() + 3 * 86_400_000)
  return tables.over
}

describe.skipIf(!postgresUrl)('a PostgreSQL database of an earlier schema', () => {
  let fresh: readonly string[]
  beforeAll(async () => {
    sql = nodePostgresSql({ connectionString: await freshDatabase(postgresUrl) })
    await applySchema(sql, today)
    fresh = await shape()
    await sql.close()
  })

  it.each(earlier)(
    '%s, whose shape is that of a new one in the end, but for what serves as well',
    async (schema) => {
      sql = nodePostgresSql({ connectionString: await freshDatabase(postgresUrl) })
      await upgrade(schema)
      while (!(await over())) await fill(Date.now() + 2 * 86_400_000)
      const wider = (line: string) => line.replace(/, call_id\)/, ')').replace(/(_nano) numeric/, '$1 bigint')
      expect((await shape()).map(wider).sort()).toEqual(fresh.map(wider).sort())
    },
    60_000,
  )
})

describe('an embedded database of an earlier schema', () => {
  it.each([earlier[0], earlier[5], earlier.at(-1)] as string[])(
    '%s',
    async (schema) => {
      sql = await emptyEmbeddedSql()
      await upgrade(schema)
    },
    300_000,
  )
})

it.skipIf(!postgresUrl)(
  'fills one table while another one waits for calls that may still be written',
  async () => {
    sql = nodePostgresSql({ connectionString: await freshDatabase(postgresUrl) })
    await applySchema(sql, read('06-ledger.sql'))
    await sql.query(callsOf('06-ledger.sql', 0) as Statement)
    await applySchema(sql, today)
    // A newer build, beside which this one runs, or after which it was started again.
    await rows("INSERT INTO gateway_backfill (target) VALUES ('a_table_of_a_newer_build')")
    const tables = backfill(sql)
    const begun = Date.now()
    let steps = 0
    while (steps < 40 && (await tables.step(begun + 1000 * steps))) steps += 1
    expect(steps).toBeLessThan(40)
    const filled = 'SELECT count(*)::int AS targets, count(filled_to)::int AS ready FROM gateway_backfill'
    expect(await rows(filled)).toEqual([{ targets: 5, ready: 4 }])
  },
  60_000,
)

it.skipIf(!postgresUrl)(
  'is copied whole into a new database, over what an interrupted copy has left there, and once',
  async () => {
    sql = nodePostgresSql({ connectionString: await freshDatabase(postgresUrl) })
    await applySchema(sql, read('06-ledger.sql'))
    await sql.query(callsOf('06-ledger.sql', 0) as Statement)
    await applySchema(sql, today)
    await fill()
    const other = nodePostgresSql({ connectionString: await preparedDatabase(postgresUrl) })
    const all = async (text: string) =>
      Promise.all([sql, other].map(async (one) => (await one.query({ sql: text, parameters: [] })).rows))
    const odd = `'a "b", (c) \\ ü', '{"a": "\\u0000", "a": 1.50}', 0.0000000010`
    await rows(`INSERT INTO gateway_organization (organization_id, organization_name, metadata, max_budget)
      VALUES ('odd', ${odd})`)
    await rows("INSERT INTO gateway_installation (name, value) VALUES ('salt_key_fingerprint', 'one')")
    await other.query({ sql: "INSERT INTO gateway_organization (organization_id) VALUES ('left')", parameters: [] })
    const interrupt = () => {
      throw new Error('interrupted')
    }
    await expect(copyDatabase(sql, other, interrupt)).rejects.toThrow('interrupted')
    const starting = requireSameSalt(other, { salt_key: secret('a salt key of the tests 7d20') })
    await expect(starting).rejects.toThrow('Run copy-database again')
    const copied = new Map<string, number>()
    expect(await copyDatabase(sql, other, (table, count) => copied.set(table, count))).toBe(true)
    const [, tables = []] = await all(`
      SELECT table_name AS name, string_agg(column_name, ', ' ORDER BY ordinal_position) AS columns
      FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name`)
    for (const { name, columns } of tables) {
      const [own, others] = await all(`
        SELECT line FROM (SELECT ROW(${columns})::text AS line FROM ${name}) AS one ORDER BY line COLLATE "C"`)
      expect(others).toEqual(own)
      expect(copied.get(String(name)) ?? 0).toBe(own?.length)
    }
    const [next, following] = await all("SELECT nextval('gateway_record_version')")
    expect(following).toEqual(next)
    expect(await copyDatabase(sql, other, () => {})).toBe(false)
    await other.close()
  },
  60_000,
)
