import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../../../src/stores/sql/schema/apply-schema.ts'
import { type LogQuery, spendLog } from '../../../../src/stores/sql/spend/spend-log.ts'
import type { Sql, Statement } from '../../../../src/stores/sql/sql.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')
const CALLS = 40_000

/** Calls of which one in a thousand is odd in every way that the log can be asked for. */
describe.skipIf(!postgresUrl)('a page of a large ledger', () => {
  let sql: Sql
  const asked: Statement[] = []
  const ask = async <Row>(text: string, ...parameters: readonly unknown[]) =>
    (await sql.query<Row>({ sql: text, parameters })).rows

  beforeAll(async () => {
    sql = nodePostgresSql({ connectionString: await preparedDatabase(postgresUrl), timeoutMs: 60_000 })
    await applySchema(sql, readFileSync(new URL('../../../../schema.sql', import.meta.url), 'utf8'))
    // Indexes that are built at once take less time.
    const indexes = await ask<{ name: string; text: string }>(
      "SELECT indexname AS name, indexdef AS text FROM pg_indexes WHERE tablename = 'gateway_spend' AND indexname <> 'gateway_spend_pkey'",
    )
    for (const { name } of indexes) await ask(`DROP INDEX ${name}`)
    await ask(`
      INSERT INTO gateway_spend (call_id, at, request_id, endpoint, mode, requested_model, model, deployment, provider,
        key_id, team_id, organization_id, user_id, tags, streamed, ending, status, error_type, cache, attempts, rescued,
        input_tokens, output_tokens, cached_input_tokens, cache_creation_input_tokens, reasoning_tokens, images,
        audio_seconds, characters, rerank_units, estimated, cost_nano, saved_nano, overhead_ms, total_ms, failed_over)
      SELECT 'call_' || n, timestamptz '2026-10-01' + n * interval '1 minute', 'req_' || n,
        CASE WHEN odd THEN '/v1/rerank' ELSE '/v1/chat/completions' END, 'chat', 'big', 'big', 'big-1', 'openai',
        'key-' || n % 7, 'team-' || n % 5, 'org-1', '', '{}', false,
        CASE WHEN n % 20 = 0 THEN 'failed' ELSE 'answered' END, 200, CASE WHEN odd THEN 'odd' WHEN n % 20 = 0 THEN 'api_error' ELSE '' END,
        CASE WHEN odd THEN 'hit' ELSE 'off' END, CASE WHEN odd THEN 0 ELSE 1 END, 0,
        1, 1, 0, 0, 0, 0, 0, 0, 0, false, CASE WHEN odd THEN NULL ELSE 7 END, 0, 1, CASE WHEN odd THEN 20000 ELSE 5 END, odd
      FROM generate_series(1, ${CALLS}) AS n, LATERAL (SELECT n % 1000 = 0 AS odd) AS is_odd`)
    for (const { text } of indexes) await ask(text)
    await ask("INSERT INTO gateway_team (team_id) SELECT 'team-' || n FROM generate_series(0, 2000) AS n")
    await ask("INSERT INTO gateway_key (key_id, key_hash) SELECT 'key-' || n, n FROM generate_series(0, 2000) AS n")
    await ask('ANALYZE')
  })
  afterAll(() => sql?.close())

  async function plansOf(query: Omit<LogQuery, 'limit'>, reach: Parameters<ReturnType<typeof spendLog>['page']>[0]) {
    asked.length = 0
    const listening: Sql = {
      ...sql,
      query(statement) {
        asked.push(statement)
        return sql.query(statement)
      },
    }
    const page = await spendLog(listening).page(reach, { ...query, limit: 51 })
    expect(asked).toHaveLength(1)
    const { sql: text, parameters } = asked[0] as Statement
    const plan = await ask<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, COSTS OFF) ${text}`, ...parameters)
    const lines = plan.map((line) => line['QUERY PLAN'])
    const removed = lines.map((line) => Number(/Rows Removed by Filter: (\d+)/.exec(line)?.[1] ?? 0))
    return { page, lines, read: Math.max(0, ...removed) }
  }

  it.each<[string, Omit<LogQuery, 'limit'>, number]>([
    ['none', {}, 51],
    ['failed_over', { failed_over: true }, 40],
    ['error_type', { error_type: 'odd' }, 40],
    ['endpoint', { endpoint: '/v1/rerank' }, 40],
    ['cache', { cache: 'hit' }, 40],
    ['unpriced', { unpriced: true }, 40],
    ['min_total_ms', { min_total_ms: 15_000 }, 40],
    ['refused', { refused: true }, 40],
    ['nothing', { error_type: 'absent' }, 0],
  ])('reads few rows, by the filter %s', async (_, query, found) => {
    for (const reach of ['everything', { organizations: ['org-1'], teams: ['team-9'] }] as const) {
      const { page, lines, read } = await plansOf(query, reach)
      expect(page).toHaveLength(found)
      expect(lines.join('\n')).not.toContain('Seq Scan on gateway_spend')
      expect(read, lines.join('\n')).toBeLessThan(2000)
    }
  })

  it('reads no more than its range where no index serves', async () => {
    const range = { from: '2026-10-10T00:00:00.000Z', to: '2026-10-11T00:00:00.000Z' }
    const { page, lines, read } = await plansOf({ cache: 'miss', ...range }, 'everything')
    expect(page).toEqual([])
    expect(read, lines.join('\n')).toBeLessThanOrEqual(24 * 60)
  })

  it('looks names up for its own rows', async () => {
    const { lines } = await plansOf({ key_id: 'key-3' }, 'everything')
    expect(lines.join('\n')).not.toMatch(/Seq Scan on gateway_(key|team|spend)/)
  })
})
