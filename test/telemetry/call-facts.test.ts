import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openapi } from '../../src/api/docs/openapi.ts'
import { factFields, factsAnswer } from '../../src/api/ui/spend/fact-fields.ts'
import { logs } from '../../src/api/ui/spend/logs.ts'
import { spend } from '../../src/api/ui/spend/spend.ts'
import { sumsAnswer } from '../../src/api/ui/spend/spend-answer.ts'
import { applySchema } from '../../src/stores/sql/schema/apply-schema.ts'
import { CALL_FACTS, type CallFact, FACT_NAMES, factOf } from '../../src/stores/sql/spend/call-facts.ts'
import type { FoldedCalls } from '../../src/stores/sql/spend/spend-folded.ts'
import { type LoggedCall, spendLog } from '../../src/stores/sql/spend/spend-log.ts'
import { spendReports } from '../../src/stores/sql/spend/spend-reports.ts'
import { ADDED_VALUES, SPEND_FRACTIONS } from '../../src/stores/sql/spend/spend-sums.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import type { CallFinished } from '../../src/telemetry/events.ts'
import { foldedLedger } from '../../src/telemetry/folded-ledger.ts'
import { ledger } from '../../src/telemetry/ledger.ts'
import { finishedCall } from '../support/finished-calls.ts'
import { preparedSql } from '../support/prepared-database.ts'

// What the contributing guide says of a fact, followed to the letter: a row, a line that says where it comes from, columns.
const { added } = vi.hoisted(() => ({
  added: {
    video_seconds: {
      type: 'double precision',
      read: (row: Readonly<Record<string, unknown>>) => row.video_seconds,
      summed: true,
      says: 'How long the films were.',
    },
    client: {
      type: 'text',
      read: (row: Readonly<Record<string, unknown>>) => row.client,
      alike: true,
      mayLack: true,
    },
  } as const satisfies Record<string, CallFact>,
}))
vi.mock(import('../../src/stores/sql/spend/call-facts.ts'), async (original) => {
  const facts = await original()
  const table: Record<string, CallFact> = Object.assign(facts.CALL_FACTS, added)
  const names = Object.keys(table)
  Object.assign(facts.FACT_NAMES, names)
  return facts
})
vi.mock(import('../../src/telemetry/call-facts.ts'), async (original) => {
  const { factsOf } = await original()
  return { factsOf: (call) => Object.assign(factsOf(call), { video_seconds: 2.5, client: '' }) }
})

const SUMMED = [
  'gateway_spend_folded',
  'gateway_spend_rollup',
  'gateway_spend_tag_rollup',
  'gateway_spend_total',
  'gateway_spend_served',
]
const COLUMNS = [
  `ALTER TABLE gateway_spend ADD COLUMN IF NOT EXISTS client text NOT NULL DEFAULT '';`,
  ...['gateway_spend', ...SUMMED].map(
    (table) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS video_seconds double precision NOT NULL DEFAULT 0;`,
  ),
].join('\n')

describe('a fact of finished calls that was added', () => {
  let sql: Sql
  beforeAll(async () => {
    sql = await preparedSql()
    await applySchema(sql, `${readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8')}\n${COLUMNS}`)
    const at = '2026-05-05T10:20:30.000Z'
    const calls = ['one', 'two'].map((callId) => finishedCall({ callId, at, tags: ['filmed'], model: 'm' }))
    await ledger.write(sql, calls)
    for (const folded of folds(finishedCall({ callId: 'three', at, model: 'm' })))
      await foldedLedger.write(sql, [folded])
  }, 60_000)
  afterAll(() => sql?.close())

  it('is in the log and its files', async () => {
    const [row] = await spendLog(sql).page('everything', { limit: 1 })
    const answer = factsAnswer(row as LoggedCall)
    expect(answer).toMatchObject({ video_seconds: 2.5, client: null, model: 'm' })
    expect(Object.keys(answer)).toEqual(Object.keys(factFields()))
    expect(Object.keys(answer)).toEqual(expect.arrayContaining(['video_seconds', 'client']))
  })

  it('is summed up, by everything that reports can ask for, calls without a row of their own among them', async () => {
    const range = { from: '2026-05-05T00:00:00.000Z', to: '2026-05-06T00:00:00.000Z' }
    const { totals, grouped } = spendReports(sql)
    expect(sumsAnswer((await totals('everything', range, {})).current)).toMatchObject({ calls: 3, video_seconds: 7.5 })
    for (const by of ['model', 'hour', 'key'] as const) {
      const [group] = await grouped('everything', range, { by, offset: 0, limit: 10 })
      expect(group).toMatchObject({ video_seconds: 7.5 })
    }
    const [tagged] = await grouped('everything', range, { by: 'tag', offset: 0, limit: 10 })
    expect(tagged).toMatchObject({ group_value: 'filmed', video_seconds: 5 })
  })

  it('is in the OpenAPI document, of one call and of sums', () => {
    const text = JSON.stringify(openapi([...logs, ...spend]))
    // The log; one call of it; the sums of a summary, twice; those of a report.
    expect(text.match(/"video_seconds":\{[^}]*How long the films were\./g)).toHaveLength(5)
  })
})

function folds(call: CallFinished): FoldedCalls[] {
  const { begin } = ledger.folding as NonNullable<typeof ledger.folding>
  const fold = begin()
  fold.add(call)
  return fold.end() as FoldedCalls[]
}

it('each fact that is summed up adds itself, and nothing where it is not known', () => {
  const summed = Object.entries(ADDED_VALUES).filter(([name]) => name in CALL_FACTS)
  expect(summed.length).toBeGreaterThan(10)
  for (const [name, of] of summed) {
    expect([name, of({ [name]: 7 } as never)]).toEqual([name, 7])
    expect([name, of({ [name]: null } as never) ?? 0]).toEqual([name, 0])
  }
  expect(SPEND_FRACTIONS).toContain('video_seconds')
})

it('each fact reads its own column', () => {
  const row = Object.fromEntries(FACT_NAMES.map((name) => [name, name]))
  expect(FACT_NAMES.map((name) => factOf(name).read(row))).toEqual(FACT_NAMES)
})
