import { endedDays } from '../../../src/stores/sql/spend/ended-days.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'

const DAYS = 90

/** A value between 0 and 1 that is the same in every run. */
const drawn = (n: string, salt: number) => `(((${n}) * 2654435761 + ${salt}) % 4294967291)::float8 / 4294967291`
/** A few keys make most calls, as it is in life: of 100,000 keys a tenth makes two thirds of the calls. */
const keyOf = (n: string, salt: number, keys: number) => `floor(${keys} * power(${drawn(n, salt)}, 6))::int`

/** The sums of `calls` calls that cost `cost`, as far as reports tell them apart. */
const SUMS = {
  calls: 'calls',
  failed_calls: 'calls / 100',
  cached_calls: 'calls / 40',
  estimated_calls: '0',
  unpriced_calls: '0',
  input_tokens: 'calls * 1000',
  output_tokens: 'calls * 200',
  cached_input_tokens: '0',
  cache_creation_input_tokens: '0',
  reasoning_tokens: '0',
  images: '0',
  audio_seconds: '0',
  characters: '0',
  rerank_units: '0',
  cost_nano: 'cost',
  saved_nano: '0',
  total_ms: 'calls * 900',
  total_ms_1600: 'calls',
  first_token_ms_200: 'calls',
}

const CALLER = `'key-' || k, CASE WHEN k % 2 = 0 THEN 'user-' || k % 20000 ELSE '' END, 'team-' || k % 1000, 'org-' || k % 50`
const SERVED = `'model-' || m, 'provider-' || m % 5, 'model-' || m || '-' || d`
const DIMENSIONS = ['key_id', 'user_id', 'team_id', 'organization_id', 'model', 'provider', 'deployment']

/** Fills an empty database with made-up records and calls of the last 90 days: 50 organizations, 1,000 teams, 20,000 people.
 *  Indexes of the large tables are built behind their rows, which takes a fraction of the time. */
export async function fillForConsole(sql: Sql, { calls, keys }: { calls: number; keys: number }): Promise<void> {
  const run = async (text: string) => (await sql.query<Record<string, string>>({ sql: text, parameters: [] })).rows
  async function filled(table: string, fill: () => Promise<void>): Promise<void> {
    const constraints = await run(`SELECT conname AS name, pg_get_constraintdef(oid) AS text FROM pg_constraint
      WHERE conrelid = '${table}'::regclass AND contype = 'p'`)
    for (const { name } of constraints) await run(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
    const indexes = await run(`SELECT indexname AS name, indexdef AS text FROM pg_indexes WHERE tablename = '${table}'`)
    for (const { name } of indexes) await run(`DROP INDEX ${name}`)
    await fill()
    for (const { name, text } of constraints) await run(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${text}`)
    for (const { text } of indexes) await run(text as string)
    await run(`VACUUM ANALYZE ${table}`)
  }

  await run(`INSERT INTO gateway_organization
    (organization_id, organization_name, max_budget, budget_duration, budget_started_at, created_at)
    SELECT 'org-' || n, 'Organization ' || n, CASE WHEN n % 2 = 0 THEN 5000 END, '1mo', date_trunc('month', now()),
      now() - n * interval '1 hour' FROM generate_series(0, 49) AS n`)
  await run(`INSERT INTO gateway_team
    (team_id, team_name, organization_id, max_budget, budget_duration, budget_started_at, created_at)
    SELECT 'team-' || n, 'Team ' || n, 'org-' || n % 50, CASE WHEN n % 2 = 0 THEN 500 END, '1mo',
      date_trunc('month', now()), now() - n * interval '1 hour' FROM generate_series(0, 999) AS n`)
  await run(`INSERT INTO gateway_user
    (user_id, user_email, user_name, max_budget, budget_duration, budget_started_at, created_at)
    SELECT 'user-' || n, 'person' || n || '@example.com', 'Person ' || n, CASE WHEN n % 3 = 0 THEN 50 END, '30d',
      date_trunc('month', now()), now() - n * interval '10 minutes' FROM generate_series(0, 19999) AS n`)
  await run(`INSERT INTO gateway_account (account_id, user_id, email, email_key, platform_role)
    SELECT 'acct-' || user_id, user_id, user_email, user_email, 'org_user' FROM gateway_user`)
  await run(`INSERT INTO gateway_membership (scope_type, scope_id, user_id, role)
    SELECT 'team', 'team-' || n % 1000, 'user-' || n, 'team_developer' FROM generate_series(0, 19999) AS n`)
  await run(`INSERT INTO gateway_key (key_id, key_hash, key_name, team_id, organization_id, user_id, owner_account_id,
      max_budget, budget_duration, budget_started_at, created_at, expires_at, revoked_at)
    SELECT 'key-' || k, md5(k::text), 'Key ' || k, 'team-' || k % 1000, 'org-' || k % 50,
      CASE WHEN k % 2 = 0 THEN 'user-' || k % 20000 END, CASE WHEN k % 4 = 0 THEN 'acct-user-' || k % 20000 END,
      CASE WHEN k % 3 = 0 THEN 10 END, CASE WHEN k % 2 = 0 THEN '30d' END, date_trunc('month', now()),
      now() - k * interval '1 minute', CASE WHEN k % 10 = 0 THEN now() + (k - 20000) * interval '1 minute' END,
      CASE WHEN k % 20 = 1 THEN now() - interval '2 days' END
    FROM generate_series(0, ${keys - 1}) AS k`)
  await run(`INSERT INTO gateway_key_use SELECT key_id, created_at FROM gateway_key`)
  const budgets = ['organization', 'team', 'user', 'key'].map(
    (
      name,
    ) => `SELECT '${name === 'organization' ? 'org' : name}:' || ${name}_id || coalesce('@' || budget_duration, ''),
      budget_duration, budget_started_at FROM gateway_${name}`,
  )
  // Each with the period that is now, and the one before.
  await run(`INSERT INTO gateway_budget (subject, period, spent_nano)
    SELECT subject, CASE WHEN duration IS NULL THEN '' ELSE
        to_char((begun - ago * interval '31 days') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END,
      floor(power(random(), 4) * 20000000000)
    FROM (${budgets.join(' UNION ALL ')}) AS budget (subject, duration, begun), generate_series(0, 1) AS ago
    WHERE ago = 0 OR duration IS NOT NULL`)

  const at = `now() - (${calls} - n) * interval '${DAYS} days' / ${calls}`
  const drawnCalls = `generate_series(1::bigint, ${calls}) AS n, LATERAL (SELECT ${keyOf('n', 1, keys)} AS k) AS key,
    LATERAL (SELECT floor(12 * power(((k * 7919 + n % 5 / 4 * 104729) % 1009) / 1009.0, 2))::int AS m, n % 2 AS d) AS served`
  await filled('gateway_spend', async () => {
    await run(`INSERT INTO gateway_spend (call_id, at, request_id, endpoint, mode, requested_model, key_id, user_id,
        team_id, organization_id, model, provider, deployment, tags, streamed, ending, status, error_type, cache, attempts,
        rescued, input_tokens, output_tokens, cached_input_tokens, cache_creation_input_tokens, reasoning_tokens, images,
        audio_seconds, characters, rerank_units, estimated, cost_nano, saved_nano, overhead_ms, first_token_ms, upstream_ms,
        total_ms, failed_over)
      SELECT 'call_' || n, ${at}, 'req_' || n,
        CASE WHEN n % 50 = 7 THEN '/v1/embeddings' WHEN n % 1000 = 9 THEN '/v1/rerank' ELSE '/v1/chat/completions' END,
        'chat', 'model-' || m, ${CALLER}, ${SERVED}, CASE WHEN n % 50 = 0 THEN ARRAY['tag-' || n / 50 % 70] ELSE '{}' END,
        n % 2 = 0,
        CASE WHEN n % 100 = 3 THEN 'failed' WHEN n % 500 = 5 THEN 'client_closed' WHEN n % 1000 = 6 THEN 'truncated'
          ELSE 'answered' END,
        CASE WHEN n % 1000 = 3 THEN 429 WHEN n % 100 = 3 THEN 502 ELSE 200 END,
        CASE WHEN n % 1000 = 3 THEN 'rate_limit_error' WHEN n % 100 = 3 THEN 'api_error' ELSE '' END,
        CASE WHEN n % 40 = 1 THEN 'hit' WHEN n % 40 < 10 THEN 'miss' ELSE 'off' END,
        CASE WHEN n % 1000 = 3 THEN 0 WHEN n % 100 = 3 THEN 2 ELSE 1 END, 0, 1000, 200, 0, 0, 0, 0, 0, 0, 0, false,
        CASE WHEN n % 2000 = 8 THEN NULL ELSE 1000000 + 1000 * m END, 0, 0.5, 200, 800,
        CASE WHEN n % 200 = 11 THEN 12000 ELSE 900 END, n % 100 = 3
      FROM ${drawnCalls}`)
  })
  await filled('gateway_spend_tag', async () => {
    await run('INSERT INTO gateway_spend_tag SELECT tag, at, call_id FROM gateway_spend, unnest(tags) AS tag')
  })
  const sums = Object.keys(SUMS).join(', ')
  const values = Object.values(SUMS).join(', ')
  await run(`CREATE UNLOGGED TABLE scale_hour AS SELECT date_trunc('hour', ${at}, 'UTC') AS bucket, k, m, d,
    count(*) AS calls, sum(1000000 + 1000 * m)::bigint AS cost FROM ${drawnCalls} GROUP BY 1, 2, 3, 4`)
  await run(`CREATE UNLOGGED TABLE scale_sum AS SELECT 'hour' AS grain, * FROM scale_hour UNION ALL
    SELECT 'day', date_trunc('day', bucket, 'UTC'), k, m, d, sum(calls)::bigint, sum(cost)::bigint FROM scale_hour
    GROUP BY 2, 3, 4, 5`)
  await filled('gateway_spend_rollup', async () => {
    await run(`INSERT INTO gateway_spend_rollup (grain, bucket, key_id, user_id, team_id, organization_id, model, provider,
        deployment, ${sums}) SELECT grain, bucket, ${CALLER}, ${SERVED}, ${values} FROM scale_sum ORDER BY bucket`)
  })
  await filled('gateway_spend_total', async () => {
    const each = `${CALLER}, ${SERVED}`.split(/, (?='|CASE)/).map((value, index) => [DIMENSIONS[index], value] as const)
    for (const [dimension, value] of [['all', "''"], ...each] as const) {
      await run(`INSERT INTO gateway_spend_total (dimension, value, grain, bucket, ${sums})
        SELECT '${dimension}', value, grain, bucket, ${values} FROM (
          SELECT ${value} AS value, grain, bucket, sum(calls)::bigint AS calls, sum(cost)::bigint AS cost
          FROM scale_sum GROUP BY 1, 2, 3) AS summed ORDER BY bucket, value`)
    }
  })
  await filled('gateway_spend_served', async () => {
    await run(`INSERT INTO gateway_spend_served (grain, bucket, model, provider, deployment, ${sums})
      SELECT grain, bucket, ${SERVED}, ${values} FROM (
        SELECT grain, bucket, m, d, sum(calls)::bigint AS calls, sum(cost)::bigint AS cost
        FROM scale_sum GROUP BY 1, 2, 3, 4) AS summed`)
  })
  await filled('gateway_spend_key_day', async () => {
    await run(`INSERT INTO gateway_spend_key_day SELECT bucket, value, cost_nano FROM gateway_spend_total
      WHERE grain = 'day' AND dimension = 'key_id' AND cost_nano > 0 ORDER BY bucket, value`)
  })
  await run('DROP TABLE scale_hour, scale_sum')
  const days = endedDays(sql)
  for (const day of await days.unranked(Date.now())) await days.rank(day)

  await run(`INSERT INTO gateway_audit_event (event_id, occurred_at, actor_type, actor_id, organization_id, action,
      resource_type, resource_id, request_id, status, changes, metadata)
    SELECT 'evt_' || lpad(n::text, 9, '0'), now() - (1000000 - n) * interval '${DAYS} days' / 1000000, 'account',
      'acct-user-' || n % 500, 'org-' || n % 50,
      (ARRAY['key.create', 'key.update', 'key.revoke', 'team.update', 'member.add'])[1 + n % 5],
      CASE WHEN n % 5 < 3 THEN 'key' WHEN n % 5 = 3 THEN 'team' ELSE 'user' END,
      CASE WHEN n % 5 < 3 THEN 'key-' || n % ${keys} WHEN n % 5 = 3 THEN 'team-' || n % 1000 ELSE 'user-' || n % 20000 END,
      'req_a' || n, CASE WHEN n % 200 = 0 THEN 403 ELSE 200 END, '{}', '{}'
    FROM generate_series(1, 1000000) AS n`)
  await run(`INSERT INTO gateway_refusal (minute, key_id, team_id, organization_id, user_id, endpoint, code, scope, counter,
      calls)
    SELECT date_trunc('minute', now() - n * interval '13 seconds'), 'key-' || k, 'team-' || k % 1000, 'org-' || k % 50, '',
      '/v1/chat/completions', 'team_rpm_exceeded', 'team_rpm', 'one', 3
    FROM generate_series(1::bigint, 600000) AS n, LATERAL (SELECT ${keyOf('n', 7, keys)} AS k) AS key
    ON CONFLICT DO NOTHING`)
  await run(`INSERT INTO gateway_invitation (invitation_id, token_hash, email, email_key, organization_id,
      organization_role, state, expires_at)
    SELECT 'inv-' || lpad(n::text, 9, '0'), md5(n::text), 'person' || n || '@example.com', 'person' || n || '@example.com',
      'org-' || n % 50, 'org_member', 'accepted', now() FROM generate_series(1, 20000) AS n`)
  await run(`INSERT INTO gateway_batch (batch_id, endpoint, input_file_id, status, key_id, team_id, organization_id,
      requests, completed, created_at, expires_at)
    SELECT 'batch_' || lpad(n::text, 9, '0'), '/v1/chat/completions', 'file-' || n,
      CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'completed' END, 'key-' || n, 'team-' || n % 1000, 'org-' || n % 50, 100, 100,
      now() - n * interval '5 minutes', now() FROM generate_series(1, 10000) AS n`)
  await run('VACUUM ANALYZE')
}
