import { readFileSync } from 'node:fs'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../../src/stores/sql/schema/apply-schema.ts'
import { spendLog } from '../../../src/stores/sql/spend/spend-log.ts'
import { spendReports } from '../../../src/stores/sql/spend/spend-reports.ts'
import { freshDatabase, startPostgres } from '../../support/postgres.ts'
import { SUM_TABLES, summedUp } from '../../support/spend-sums.ts'

/** How long each page of the spend API takes the database, over so many made-up calls: `node test/system/scale/spend.ts 1000000`. */
const CALLS = Number(process.argv[2] ?? 1_000_000)
const DAYS = 90
const KEYS = 200

const server = await startPostgres()
if (!server) throw new Error('PostgreSQL is not installed')
const sql = nodePostgresSql({ connectionString: await freshDatabase(server.url), timeoutMs: 3_600_000 })
const run = (text: string) => sql.query({ sql: text, parameters: [] })
const print = (line: string) => process.stdout.write(`${line}\n`)

try {
  await applySchema(sql, readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8'))
  // A few keys make most calls, as it is in life.
  await run(`
    INSERT INTO gateway_spend (call_id, at, request_id, endpoint, mode, requested_model, model, deployment, provider, key_id,
      team_id, organization_id, user_id, tags, streamed, ending, status, error_type, cache, attempts, rescued, input_tokens,
      output_tokens, cached_input_tokens, cache_creation_input_tokens, reasoning_tokens, images, audio_seconds, characters,
      rerank_units, estimated, cost_nano, saved_nano, overhead_ms, first_token_ms, upstream_ms, total_ms)
    SELECT 'call_' || md5(n::text), timestamptz '2026-10-01' + random() * interval '${DAYS} days', 'req_' || n,
      '/v1/chat/completions', 'chat', 'model-' || m, 'model-' || m, 'deployment-' || m || '-' || n % 3, 'provider-' || m % 5,
      'key-' || k, 'team-' || k % 40, 'org-' || k % 10, CASE WHEN k % 2 = 0 THEN 'user-' || k ELSE '' END,
      CASE WHEN n % 10 = 0 THEN ARRAY['tag-' || n % 70] ELSE '{}' END, n % 2 = 0,
      CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'answered' END, CASE WHEN n % 100 = 0 THEN 502 ELSE 200 END, '', 'off', 1, 0,
      1000, 200, 0, 0, 0, 0, 0, 0, 0, false, 1000000, 0, 0.5, 200, 800, 900
    FROM generate_series(1, ${CALLS}) AS n,
      LATERAL (SELECT floor(${KEYS} * power(random(), 3))::int AS k, floor(12 * power(random(), 2))::int AS m WHERE n > 0) AS drawn`)
  for (const table of SUM_TABLES) {
    const { columns, query } = summedUp(table)
    await run(`INSERT INTO ${table} (${columns}) ${query}`)
  }
  await run('INSERT INTO gateway_spend_tag SELECT tag, at, call_id FROM gateway_spend, unnest(tags) AS tag')
  await run('ANALYZE')
  const { rows } = await run(`
    SELECT (SELECT count(*) FROM gateway_spend_rollup WHERE grain = 'hour') AS hours,
      (SELECT count(*) FROM gateway_spend_rollup WHERE grain = 'day') AS days,
      pg_size_pretty(pg_total_relation_size('gateway_spend')) AS ledger`)
  print(JSON.stringify({ calls: CALLS, ...rows[0] }))

  const log = spendLog(sql)
  const reports = spendReports(sql)
  const month = { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' }
  const quarter = { from: '2026-10-01T00:00:00.000Z', to: '2026-12-30T00:00:00.000Z' }
  const week = { from: '2026-12-01T03:00:00.000Z', to: '2026-12-08T03:00:00.000Z' }
  const org = { organizations: ['org-7'], teams: ['team-3'] }
  const page = { limit: 51 }
  const all = { offset: 0, limit: 1001 }
  const pages: Record<string, () => Promise<unknown>> = {
    'summary of 30 days': () => reports.totals('everything', month, {}),
    'summary of 30 days, one organization': () => reports.totals(org, month, {}),
    'report by day, 30 days': () => reports.grouped('everything', month, { ...all, by: 'day' }),
    'report by hour and model, a week': () =>
      reports.split('everything', week, { ...all, by: 'hour', splitBy: 'model', top: 10 }),
    'report by day and key, 30 days': () =>
      reports.split('everything', month, { ...all, by: 'day', splitBy: 'key', top: 10 }),
    'report by team and model, 90 days': () =>
      reports.split('everything', quarter, { ...all, by: 'team', splitBy: 'model', top: 10 }),
    'report by hour and model, a week, one organization': () =>
      reports.split(org, week, { ...all, by: 'hour', splitBy: 'model', top: 10 }),
    'report by day, 90 days': () => reports.grouped('everything', quarter, { ...all, by: 'day' }),
    'report by model, 90 days': () => reports.grouped('everything', quarter, { ...all, by: 'model' }),
    'report by key, 30 days': () => reports.grouped('everything', month, { ...all, by: 'key' }),
    'report by tag, 30 days': () => reports.grouped('everything', month, { ...all, by: 'tag' }),
    'report by hour, 7 days': () => reports.grouped('everything', week, { ...all, by: 'hour' }),
    'report by model, 7 days from 3 a.m.': () => reports.grouped('everything', week, { ...all, by: 'model' }),
    'report by model, one key': () => reports.grouped('everything', month, { ...all, by: 'model', key_id: 'key-9' }),
    'log, newest': () => log.page('everything', page),
    'log, far down': () =>
      log.page('everything', { ...page, after: { at: '2026-10-03T00:00:00.000Z', callId: 'call_5' } }),
    'log of a rare key': () => log.page('everything', { ...page, key_id: `key-${KEYS - 1}` }),
    'log of a busy key': () => log.page('everything', { ...page, key_id: 'key-0' }),
    'log of a key that has none': () => log.page('everything', { ...page, key_id: 'key-none' }),
    'log of failures': () => log.page('everything', { ...page, ending: 'failed' }),
    'log of a status, one model': () => log.page('everything', { ...page, status: 502, model: 'model-11' }),
    'log of a status that never was': () => log.page('everything', { ...page, status: 418 }),
    'log of a tag': () => log.page('everything', { ...page, tag: 'tag-30' }),
    'log of a tag that has none': () => log.page('everything', { ...page, tag: 'nothing' }),
    'log of failovers': () => log.page('everything', { ...page, failed_over: true }),
    'log of an error that never was': () => log.page('everything', { ...page, error_type: 'nothing' }),
    'log of a rare endpoint': () => log.page('everything', { ...page, endpoint: '/v1/rerank' }),
    'log of hits of the cache, one key': () => log.page('everything', { ...page, cache: 'hit', key_id: 'key-0' }),
    'log of slow calls': () => log.page('everything', { ...page, min_total_ms: 30_000 }),
    'log of calls of a month that no index finds': () =>
      log.page('everything', { ...page, ...month, min_total_ms: 9000 }),
    'log of refused calls of an organization': () => log.page(org, { ...page, refused: true }),
    'log of unpriced calls': () => log.page('everything', { ...page, unpriced: true }),
    'log of a request': () => log.page('everything', { ...page, request_id: 'req_4711' }),
    'log of a batch that has none': () => log.page('everything', { ...page, batch_id: 'batch-none' }),
    'log of an organization': () => log.page(org, page),
    'log of an organization, one model': () => log.page(org, { ...page, model: 'model-11' }),
    'log of a key and a model that never met': () =>
      log.page('everything', { ...page, key_id: 'key-0', model: 'model-none' }),
  }
  for (const [name, ask] of Object.entries(pages)) {
    const times: number[] = []
    for (let turn = 0; turn < 5; turn++) {
      const begun = performance.now()
      await ask()
      times.push(performance.now() - begun)
    }
    print(
      `${Math.max(...times)
        .toFixed(1)
        .padStart(8)} ms worst ${Math.min(...times)
        .toFixed(1)
        .padStart(8)} best  ${name}`,
    )
  }
} finally {
  await sql.close()
  await server.stop()
}
