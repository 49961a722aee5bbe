import { describe, expect, it } from 'vitest'
import { ledger } from '../../../src/telemetry/ledger.ts'
import { finishedCall } from '../../support/finished-calls.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

const DAY_MS = 86_400_000

describe('lists of rows that are removed with age', () => {
  const keeping = withFullGateway(
    async () => 'general_settings: { spend_log_retention_days: 30, audit_retention_days: 365 }\nmodel_list: []',
  )
  const forEver = withFullGateway(async () => 'model_list: []')

  const daysAgo = (moment: string | null) => Math.round((Date.now() - Date.parse(moment ?? '')) / DAY_MS)

  it('tell from when on rows are kept, also in their exports', async () => {
    for (const [path, days] of [
      ['/ui/api/logs', 30],
      ['/ui/api/audit/events', 365],
    ] as const) {
      const { kept_from } = (await (await keeping.fetch(path)).json()) as { kept_from: string }
      expect(daysAgo(kept_from)).toBe(days)
      const file = await keeping.fetch(`${path}?format=csv`)
      expect(daysAgo(file.headers.get('x-gateway-kept-from'))).toBe(days)
      await file.text()
    }
  })

  it('say that all are kept where nothing else is configured', async () => {
    for (const path of ['/ui/api/logs', '/ui/api/audit/events']) {
      expect(await (await forEver.fetch(path)).json()).toMatchObject({ kept_from: null })
      const file = await forEver.fetch(`${path}?format=jsonl`)
      expect(file.headers.get('x-gateway-kept-from')).toBeNull()
      await file.text()
    }
  })

  it('have no row of a range that is gone, which reports still count', async () => {
    const at = new Date(Date.now() - 40 * DAY_MS).toISOString()
    await ledger.write(keeping.sql, [finishedCall({ at, costNano: 2_000_000_000 })])
    await keeping.sql.query({ sql: 'DELETE FROM gateway_spend', parameters: [] })
    const from = new Date(Date.now() - 60 * DAY_MS).toISOString()
    expect(await (await keeping.fetch(`/ui/api/logs?from=${from}`)).json()).toMatchObject({ data: [] })
    const summary = await (await keeping.fetch(`/ui/api/spend/summary?from=${from}`)).json()
    expect(summary).toMatchObject({ total: { calls: 1, spend: 2 } })
  })
})
