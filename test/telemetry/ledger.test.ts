import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { usageOf } from '../../src/modes/usage.ts'
import { nodePostgresSql } from '../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../src/stores/sql/schema/apply-schema.ts'
import type { FoldedCalls } from '../../src/stores/sql/spend/spend-folded.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import { factsOf } from '../../src/telemetry/call-facts.ts'
import type { Folding } from '../../src/telemetry/delivery/delivery.ts'
import type { CallFinished } from '../../src/telemetry/events.ts'
import { foldedLedger, foldOfCalls } from '../../src/telemetry/folded-ledger.ts'
import { ledger } from '../../src/telemetry/ledger.ts'
import { preparedEmbeddedSql } from '../support/embedded-database.node.ts'
import { finishedCall } from '../support/finished-calls.ts'
import { preparedDatabase } from '../support/prepared-database.ts'
import { SUM_TABLES, summedUp } from '../support/spend-sums.ts'

const postgresUrl = inject('postgresUrl')
const schemaText = readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8')

describe.each([
  [
    'PostgreSQL',
    postgresUrl !== '',
    async () => nodePostgresSql({ connectionString: await preparedDatabase(postgresUrl) }),
  ],
  ['PGlite', true, () => preparedEmbeddedSql()],
] as const)('the ledger in %s', (_, possible, open) => {
  let sql: Sql
  beforeAll(async () => {
    if (!possible) return
    sql = await open()
    await applySchema(sql, schemaText)
  })
  const clear = async () => {
    const tables = [
      'gateway_spend',
      'gateway_spend_tag',
      'gateway_spend_past',
      'gateway_spend_fold',
      'gateway_spend_folded',
      'gateway_spend_total',
      'gateway_spend_key_day',
      'gateway_spend_served',
      'gateway_spend_rollup',
      'gateway_spend_tag_rollup',
      'gateway_budget',
    ]
    if (possible) await sql.batch(tables.map((table) => ({ sql: `DELETE FROM ${table}`, parameters: [] })))
  }
  beforeEach(clear)
  afterAll(() => sql?.close())

  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  const rows = async (text: string) => (await sql.query<any>({ sql: text, parameters: [] })).rows
  const write = (...calls: CallFinished[]) => ledger.write(sql, calls)

  it.skipIf(!possible)('keeps a name that is cut inside of a character', async () => {
    const name = `${'n'.repeat(1023)}\u{1f600}`
    await write(finishedCall({ callId: 'call_cut', requestedModel: name, model: name, deployment: name }))
    const [row] = await rows('SELECT model FROM gateway_spend')
    expect(row.model).toBe(`${'n'.repeat(1023)}\ufffd`)
  })

  it.skipIf(!possible)('keeps every field of a call', async () => {
    const call = finishedCall({
      callId: 'call_whole',
      requestedModel: 'nickname',
      userId: 'user-1',
      batchId: 'batch-1',
      prompt: 'greeting@3',
      tags: ['a', 'b "quoted", {c}', 'ü'],
      streamed: true,
      ending: 'truncated',
      errorType: 'api_error',
      usage: usageOf({
        inputTokens: 10,
        outputTokens: 20,
        cachedInputTokens: 3,
        cacheCreationInputTokens: 2,
        reasoningTokens: 7,
        images: 1,
        audioSeconds: 2.5,
        characters: 9,
        rerankUnits: 4,
        estimated: true,
      }),
      costNano: 9_007_199_254_740_991,
      savedNano: 12,
      cache: 'miss',
      attempts: 3,
      rescuedFrom: ['big-2'],
    })
    await write(call)
    expect(await rows('SELECT * FROM gateway_spend')).toEqual([
      {
        call_id: 'call_whole',
        at: '2026-03-04T05:06:07.089Z',
        request_id: call.requestId,
        endpoint: '/v1/chat/completions',
        mode: 'chat',
        requested_model: 'nickname',
        model: 'big',
        deployment: 'big-1',
        provider: 'openai',
        key_id: 'key-1',
        team_id: 'team-1',
        organization_id: 'org-1',
        user_id: 'user-1',
        batch_id: 'batch-1',
        prompt: 'greeting@3',
        tags: ['a', 'b "quoted", {c}', 'ü'],
        streamed: true,
        ending: 'truncated',
        status: 200,
        error_type: 'api_error',
        cache: 'miss',
        attempts: 3,
        failed_over: false,
        rescued: 1,
        input_tokens: '10',
        output_tokens: '20',
        cached_input_tokens: '3',
        cache_creation_input_tokens: '2',
        reasoning_tokens: '7',
        images: '1',
        audio_seconds: 2.5,
        characters: '9',
        rerank_units: '4',
        estimated: true,
        cost_nano: '9007199254740991',
        saved_nano: '12',
        overhead_ms: 0.4,
        first_token_ms: 20,
        upstream_ms: 30,
        total_ms: 31,
        detail: null,
      },
    ])
  })

  it.skipIf(!possible)('keeps the batch of each of some calls that are otherwise alike', async () => {
    const { batchId: _, prompt: __, ...ofEarlierBuild } = finishedCall({ callId: 'call_3' })
    await write(
      finishedCall({ callId: 'call_1', batchId: 'batch-1' }),
      finishedCall({ callId: 'call_2', batchId: 'batch-2' }),
      ofEarlierBuild as CallFinished,
      finishedCall({ callId: 'call_4', batchId: 'batch-1' }),
    )
    const kept = await rows('SELECT call_id, batch_id FROM gateway_spend ORDER BY call_id')
    expect(kept.map(({ batch_id }) => batch_id)).toEqual(['batch-1', 'batch-2', '', 'batch-1'])
  })

  it.skipIf(!possible)('knows an unknown price from none, and a call that used nothing', async () => {
    await write(
      finishedCall({ costNano: undefined }),
      finishedCall({ costNano: 0, usage: undefined, ending: 'failed', status: 502, firstTokenMs: undefined }),
    )
    expect(await rows('SELECT cost_nano, input_tokens FROM gateway_spend ORDER BY ending')).toEqual([
      { cost_nano: null, input_tokens: '10' },
      { cost_nano: '0', input_tokens: '0' },
    ])
    expect(
      await rows(`SELECT sum(unpriced_calls)::int AS unpriced, sum(failed_calls)::int AS failed
        FROM gateway_spend_rollup WHERE grain = 'hour'`),
    ).toEqual([{ unpriced: 1, failed: 1 }])
  })

  it.skipIf(!possible)('adds a call once to its row, its budgets and its sums, however often it comes', async () => {
    const charges = [
      { subject: 'key:key-1', period: '' },
      { subject: 'team:team-1@1mo', period: '2026-03-01T00:00:00.000Z' },
    ]
    // One for a model, which has served a part.
    const part = { subject: 'key:key-1|model', period: '' }
    const calls = [1, 2, 3].map((cost) =>
      finishedCall({ costNano: cost, charges: [...charges, { ...part, costNano: cost - 1 }], tags: ['x', 'y'] }),
    )
    const [first, second, third] = calls as [CallFinished, CallFinished, CallFinished]
    await write(first, first, second)
    await write(second, third, first)
    await Promise.all([write(...calls), write(...calls.toReversed()), write(third)])
    expect(await rows('SELECT count(*)::int AS calls, sum(cost_nano) AS nano FROM gateway_spend')).toEqual([
      { calls: 3, nano: '6' },
    ])
    expect(await rows('SELECT subject, period, spent_nano FROM gateway_budget ORDER BY subject')).toEqual(
      [charges[0], part, charges[1]].map((charge) => ({ ...charge, spent_nano: charge === part ? '3' : '6' })),
    )
    for (const grain of ['hour', 'day']) {
      const bucket = grain === 'hour' ? '2026-03-04T05:00:00.000Z' : '2026-03-04T00:00:00.000Z'
      expect(
        await rows(`SELECT bucket, calls, cost_nano, input_tokens, total_ms, key_id, model
          FROM gateway_spend_rollup WHERE grain = '${grain}'`),
      ).toEqual([
        { bucket, calls: '3', cost_nano: '6', input_tokens: '30', total_ms: 93, key_id: 'key-1', model: 'big' },
      ])
      expect(
        await rows(`SELECT tag, calls, cost_nano FROM gateway_spend_tag_rollup WHERE grain = '${grain}' ORDER BY tag`),
      ).toEqual([
        { tag: 'x', calls: '3', cost_nano: '6' },
        { tag: 'y', calls: '3', cost_nano: '6' },
      ])
    }
  })

  it.skipIf(!possible)('takes many writers of the same sums at once', async () => {
    const charge = { subject: 'org:org-1', period: '' }
    const batches = Array.from({ length: 12 }, (_, batch) =>
      Array.from({ length: 50 }, (_, index) =>
        finishedCall({
          keyId: `key-${(index * 7 + batch) % 11}`,
          model: `model-${index % 5}`,
          tags: [`t${(index + batch) % 3}`],
          costNano: 1,
          charges: [charge, { subject: `key:${(index * 3 + batch) % 7}`, period: '' }],
        }),
      ),
    )
    await Promise.all(batches.map((batch) => ledger.write(sql, batch)))
    expect(await rows("SELECT spent_nano FROM gateway_budget WHERE subject = 'org:org-1'")).toEqual([
      { spent_nano: '600' },
    ])
    expect(await rows("SELECT sum(calls)::int AS calls FROM gateway_spend_rollup WHERE grain = 'hour'")).toEqual([
      { calls: 600 },
    ])
  })

  it.skipIf(!possible)('sums up what the ledger holds, to the last of it', async () => {
    const calls = manyCalls()
    await write(...calls.slice(0, 40))
    // Half of these are there already.
    await Promise.all([write(...calls.slice(20, 200)), write(...calls.slice(100)), write(...calls.slice(0, 60))])
    for (const table of SUM_TABLES) {
      const { columns, query } = summedUp(table)
      const all = (source: string) => rows(`SELECT ${columns} FROM ${source} AS them ORDER BY ${columns}`)
      // A sum of bigints is numeric; as text both look alike.
      expect(await all(table), table).toEqual(await all(`(${query})`))
    }
    const charged = `SELECT sum(spent_nano) AS nano FROM gateway_budget`
    expect(await rows(charged)).toEqual(await rows('SELECT sum(cost_nano) AS nano FROM gateway_spend'))
  })

  it.skipIf(!possible)('has the same sums and budgets of calls that were folded, however often they come', async () => {
    const calls = manyCalls()
    const tables = [...SUM_TABLES, 'gateway_budget'] as const
    const states = async () =>
      Promise.all(tables.map((table) => rows(`SELECT * FROM ${table} AS one ORDER BY one::text`)))
    await write(...calls)
    const expected = await states()
    await clear()

    const folding = ledger.folding as Folding<CallFinished>
    const [one, other] = [folding.begin(), folding.begin()]
    for (const call of calls.slice(100, 200)) one.add(call)
    for (const call of calls.slice(200, 290)) other.add(call)
    const alone = calls.slice(290).map(folding.alone)
    // As they come out of a file or a queue.
    const sums = JSON.parse(JSON.stringify([...one.end(), ...other.end(), ...alone])) as object[]
    expect([one.entries, other.entries]).toEqual([100, 90])
    const put = (...them: object[]) => folding.topic.write(sql, them)
    await Promise.all([write(...calls.slice(0, 100)), put(...sums), put(...sums.toReversed())])
    await put(...sums)
    expect(await states()).toEqual(expected)
    expect(await rows('SELECT count(*)::int AS calls FROM gateway_spend')).toEqual([{ calls: 100 }])
    expect(await rows('SELECT sum(calls)::int AS calls FROM gateway_spend_folded')).toEqual([{ calls: 200 }])
  })

  it.skipIf(!possible)('has exact budgets and totals of more kinds of calls than it tells apart', async () => {
    const charges = [{ subject: 'org:org-1', period: '' }]
    const fold = foldOfCalls(20)
    const call = (index: number, tags: string[] = []) =>
      factsOf(finishedCall({ keyId: `key-${index}`, tags, costNano: index, charges }))
    for (let index = 0; index < 100; index++) fold.add(call(index, [`tag-${index}`]))
    // What is known stays told apart.
    fold.add(call(3, ['tag-3']))
    await foldedLedger.write(sql, fold.end() as FoldedCalls[])
    expect(
      await rows("SELECT calls, cost_nano FROM gateway_spend_total WHERE dimension = 'all' AND grain = 'day'"),
    ).toEqual([{ calls: '101', cost_nano: '4953' }])
    expect(await rows('SELECT spent_nano FROM gateway_budget')).toEqual([{ spent_nano: '4953' }])
    const told = await rows("SELECT key_id, calls FROM gateway_spend_rollup WHERE grain = 'day'")
    expect(told).toHaveLength(41)
    expect(told.find(({ key_id }) => key_id === '')).toMatchObject({ calls: '60' })
    expect(told.find(({ key_id }) => key_id === 'key-3')).toMatchObject({ calls: '2' })
  })

  it.skipIf(!possible)('takes names that no database can hold', async () => {
    await write(finishedCall({ requestedModel: 'a\0b\ud800', deployment: '\udfff' }))
    expect(await rows('SELECT requested_model, deployment FROM gateway_spend')).toEqual([
      { requested_model: 'ab\ufffd', deployment: '\ufffd' },
    ])
  })

  it.skipIf(!possible)('has gone through a queue as JSON and is the same', async () => {
    const call = finishedCall({ costNano: undefined, usage: undefined, firstTokenMs: undefined })
    await write(JSON.parse(JSON.stringify(call)))
    expect(await rows('SELECT cost_nano, first_token_ms FROM gateway_spend')).toEqual([
      { cost_nano: null, first_token_ms: null },
    ])
  })
})

/** Calls of many kinds, in several hours. */
function manyCalls(): CallFinished[] {
  const pick = <Value>(values: readonly Value[], index: number) => values[index % values.length] as Value
  return Array.from({ length: 300 }, (_, index) =>
    finishedCall({
      at: pick(['2026-03-04T05:59:59.999Z', '2026-03-04T06:00:00.000Z', '2026-03-05T00:00:00.001Z'], index),
      keyId: pick(['key-1', 'key-2', 'ü "quoted"'], index >> 1),
      userId: pick(['', 'user-1'], index >> 2),
      model: pick(['big', 'small', 'a\0b'], index >> 3),
      deployment: pick(['big-1', 'big-2'], index >> 4),
      tags: pick([[], ['x'], ['x', 'y, {z}']], index >> 1),
      ending: pick(['answered', 'answered', 'failed', 'truncated', 'client_closed'] as const, index),
      cache: pick(['off', 'hit', 'miss'] as const, index >> 2),
      costNano: pick([undefined, 0, 7, Number.MAX_SAFE_INTEGER - 1], index % 97 === 0 ? 3 : index % 3),
      savedNano: index,
      totalMs: index / 8,
      usage: usageOf({
        inputTokens: index === 5 ? 1e300 : index,
        outputTokens: 2 * index,
        cachedInputTokens: index % 5,
        cacheCreationInputTokens: index % 6,
        reasoningTokens: index % 7,
        images: index % 3,
        audioSeconds: index / 4,
        characters: index % 11,
        rerankUnits: index % 13,
        estimated: index % 2 === 0,
      }),
      charges: [{ subject: `key:${index % 3}`, period: pick(['', '2026-03-01T00:00:00.000Z'], index >> 2) }],
    }),
  )
}
