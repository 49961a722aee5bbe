import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { fileFormat } from '../../../../src/api/ui/spend/export.ts'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { ledger } from '../../../../src/telemetry/ledger.ts'
import { finishedCall } from '../../../support/finished-calls.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')
const KEYS = 10_300
const WHOLE = 'group_by=key&from=2026-03-01&to=2026-03-02'

describe.skipIf(!postgresUrl)('a report as a file', () => {
  let gateway: FullGateway
  beforeAll(async () => {
    const url = await preparedDatabase(postgresUrl)
    gateway = await startFullGateway(`general_settings: { database_url: '${url}' }\nmodel_list: []\n`)
    const sql = nodePostgresSql({ connectionString: url })
    const calls = Array.from({ length: KEYS }, (_, index) =>
      finishedCall({ callId: `call_${index}`, keyId: `key-${index}`, at: '2026-03-01T10:00:00.000Z', costNano: 1000 }),
    )
    for (let at = 0; at < KEYS; at += 1000) await ledger.write(sql, calls.slice(at, at + 1000))
    await sql.close()
  })
  afterAll(() => gateway?.close())
  const linesOf = async (query: string) => {
    const response = await gateway.fetch(`/ui/api/spend/report?${WHOLE}&${query}`)
    return [response.status, (await response.text()).trimEnd().split(/\r?\n/)] as const
  }

  it('has every row, as many as add up to the summary', async () => {
    const [status, [head = '', ...rows]] = await linesOf('format=csv')
    const spend = head.split(',').indexOf('spend')
    expect([status, rows.length, new Set(rows.map((row) => row.split(',')[0])).size]).toEqual([200, KEYS, KEYS])
    const summary = await gateway.fetch('/ui/api/spend/summary?from=2026-03-01&to=2026-03-02')
    const { total } = (await summary.json()) as { total: { spend: number } }
    expect(rows.reduce((sum, row) => sum + Math.round(1e9 * Number(row.split(',')[spend])), 0)).toBe(
      Math.round(1e9 * total.spend),
    )
  })

  it('has as many rows as are asked for, from where they are asked for', async () => {
    const rows = async (query: string) =>
      (await linesOf(`format=jsonl&${query}`))[1].map((line) => JSON.parse(line).group as string)
    const first = await rows('limit=10100')
    expect([first.length, await rows('limit=3&cursor=10097')]).toEqual([10_100, first.slice(-3)])
    const page = await gateway.fetch(`/ui/api/spend/report?${WHOLE}`)
    expect(((await page.json()) as { data: unknown[] }).data).toHaveLength(1000)
    expect((await linesOf('limit=10001'))[0]).toBe(400)
    expect((await linesOf('limit=100001&format=csv'))[0]).toBe(400)
  })
})

it.each([
  ['=1+1', "'=1+1"],
  ['-1', "'-1"],
  ['@x', "'@x"],
  ['  =1+1', "'  =1+1"],
  [' \t+1', "' \t+1"],
  ['＝1+1', "'＝1+1"],
  ['\ntext', '"\'\ntext"'],
  ['a=1', 'a=1'],
  [' a', ' a'],
  [-1, '-1'],
])('of %j a spreadsheet makes no formula', (value, cell) => {
  expect(fileFormat('csv', ['a']).line({ a: value })).toBe(`${cell}\r\n`)
})
