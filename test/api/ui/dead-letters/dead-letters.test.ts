import { beforeEach, describe, expect, it } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { MASTER_KEY } from '../../../support/gateway.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

// biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
type Body = any

describe('dead letters', () => {
  const gateway = withFullGateway(
    `
model_list:
  - model_name: priced
    gateway_params: { model: echo/m }
    model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.001 }`,
  )
  const ask = adminApi(() => gateway)
  const run = async (text: string) => (await gateway.sql.query<Body>({ sql: text, parameters: [] })).rows
  const letters = async (): Promise<Body[]> => (await ask('GET', '/dead-letters')).body.data
  const replay = (body: object = {}) => ask('POST', '/dead-letters/replay', body)
  const audited = async (where: string) =>
    (await run(`SELECT count(*)::int AS n FROM gateway_audit_event WHERE ${where}`))[0].n

  /** The database refuses an event of this organization, and sums of calls, until `accept`. */
  const refuse = async () => {
    await run(
      `ALTER TABLE gateway_audit_event ADD CONSTRAINT refused CHECK (resource_id IS DISTINCT FROM 'acme') NOT VALID`,
    )
    await run(`ALTER TABLE gateway_spend_rollup ADD CONSTRAINT refused CHECK (model <> 'priced') NOT VALID`)
  }
  const accept = async () => {
    await run('ALTER TABLE gateway_audit_event DROP CONSTRAINT IF EXISTS refused')
    await run('ALTER TABLE gateway_spend_rollup DROP CONSTRAINT IF EXISTS refused')
  }

  describe('of audit and ledger', () => {
    beforeEach(async () => {
      await accept()
      await run('DELETE FROM gateway_dead_letter')
    })

    it('are kept with their reason while the database refuses them, and written once when it takes them', async () => {
      await refuse()
      await ask('POST', '/organizations', { organization_id: 'acme' })
      const answer = await gateway.chat({
        model: 'priced',
        messages: [{ role: 'user', content: 'a-canary-of-content' }],
      })
      expect(answer.status).toBe(200)
      await expect.poll(async () => (await letters()).length, { timeout: 15_000 }).toBe(2)
      const kept = await letters()
      expect(kept.map(({ topic }) => topic).sort()).toEqual(['audit', 'ledger_sums'])
      expect(await (await gateway.fetch('/health/deployments')).json()).toMatchObject({ dead_letters: 2 })
      const [event, sums] = [...kept].sort((a, b) => (a.topic < b.topic ? -1 : 1))
      expect(event).toMatchObject({
        letter_id: expect.stringMatching(/^letter_[0-9a-f]{32}$/),
        died_at: expect.stringMatching(/Z$/),
        error: expect.stringContaining('violates check constraint'),
        record: { action: 'organization.create', resource_id: 'acme' },
      })
      const spent = sums.record.shapes[0].sum_cost_nano
      expect(spent).toBeGreaterThan(0)
      expect(JSON.stringify(kept)).not.toContain('a-canary-of-content')
      expect(JSON.stringify(kept)).not.toContain(MASTER_KEY)
      expect(await (await gateway.fetch('/metrics')).text()).toContain('gateway_records_dead_total{topic="audit"} 1')

      // The reason is still there.
      expect((await replay()).body).toMatchObject({ replayed: 0, refused: [{}, {}], next_cursor: null })
      expect(await letters()).toHaveLength(2)

      await accept()
      const [one, other] = await Promise.all([replay(), replay({ ids: kept.map(({ letter_id }) => letter_id) })])
      expect([one.status, other.status].filter((status) => ![200, 404].includes(status))).toEqual([])
      expect(await letters()).toEqual([])
      expect(await audited("resource_id = 'acme' AND action = 'organization.create'")).toBe(1)
      const total = 'SELECT sum(cost_nano)::bigint AS nano, sum(calls)::int AS calls FROM gateway_spend_total'
      expect(await run(`${total} WHERE dimension = 'model' AND value = 'priced' AND grain = 'day'`)).toEqual([
        { nano: String(spent), calls: 1 },
      ])
      await expect
        .poll(() => audited("action = 'dead_letter.replay' AND metadata->>'replayed' = '2'"))
        .toBeGreaterThan(0)
    })

    it('can be given up, one by its id or many by topic and time, and the audit says so', async () => {
      const ids: string[] = []
      for (const [n, topic] of ['audit', 'audit', 'ledger_sums', 'ledger'].entries()) {
        const [{ letter_id }] = await run(`
          INSERT INTO gateway_dead_letter (letter_id, topic, body, error, died_at) VALUES ('letter_' || md5('gone ${n}'),
            '${topic}', '{}', 'why ${n}', '2026-01-0${n + 1}T00:00:00Z') RETURNING letter_id`)
        ids.push(letter_id)
      }
      const left = async (query = '') =>
        ((await ask('GET', `/dead-letters${query}`)).body.data as Body[]).map(({ letter_id }) => ids.indexOf(letter_id))
      expect(await left('?topic=audit&died_before=2026-01-02T00:00:00Z')).toEqual([0])
      expect(await ask('DELETE', `/dead-letters/${ids[0]}`)).toEqual({ status: 200, body: { letter_id: ids[0] } })
      expect((await ask('DELETE', `/dead-letters/${ids[0]}`)).status).toBe(404)
      for (const query of ['', '?topic=none', '?died_before=yesterday', '?cursor=x&topic=audit']) {
        expect((await ask('DELETE', `/dead-letters${query}`)).status, query).toBe(400)
      }
      expect(await left()).toEqual([1, 2, 3])
      expect((await ask('DELETE', '/dead-letters?died_before=2026-01-04T00:00:00%2B00:00')).body).toEqual({
        removed: 2,
      })
      expect(await left()).toEqual([3])
      expect((await ask('DELETE', '/dead-letters?topic=ledger')).body).toEqual({ removed: 1 })
      expect((await ask('DELETE', '/dead-letters?topic=ledger')).body).toEqual({ removed: 0 })
      const removals = "action = 'dead_letter.remove' AND status = 200"
      await expect.poll(() => audited(removals)).toBe(4)
      expect(await audited(`${removals} AND resource_id = '${ids[0]}' AND metadata->>'error' = 'why 0'`)).toBe(1)
      expect(await audited(`${removals} AND metadata->'letter_ids'->>1 = '${ids[2]}'`)).toBe(1)
    })

    it('come in pages, and can be replayed by their ids or page by page', async () => {
      for (let n = 0; n < 5; n++) {
        await run(`
          INSERT INTO gateway_dead_letter (letter_id, topic, body, error, died_at) VALUES ('letter_' || md5('${n}'), 'audit',
            '{"event_id":"audit_${n}","occurred_at":"2026-01-01T00:00:00Z","actor_type":"master_key","actor_id":null,"organization_id":null,"ip":null,"user_agent":null,"action":"key.create",
              "resource_type":"key","resource_id":"k${n}","request_id":"r","status":${n === 1 ? 3e9 : 200},
              "changes":{},"metadata":{}}', 'refused', now() + interval '${n} ms')`)
      }
      const first = (await ask('GET', '/dead-letters?limit=2')).body
      const second = (await ask('GET', `/dead-letters?limit=10&cursor=${encodeURIComponent(first.next_cursor)}`)).body
      expect([...first.data, ...second.data].map(({ record }: Body) => record.resource_id)).toEqual([
        'k0',
        'k1',
        'k2',
        'k3',
        'k4',
      ])
      expect(second.next_cursor).toBeNull()
      const last = second.data.at(-1).letter_id
      expect((await replay({ ids: [last] })).body).toEqual({ replayed: 1, refused: [], next_cursor: null })
      expect((await replay({ ids: [last] })).status).toBe(404)
      // One that stays refused does not hold up the others.
      const page = (await replay({ limit: 2 })).body
      expect(page).toMatchObject({ replayed: 1, refused: [{ error: expect.stringContaining('integer') }] })
      expect((await replay({ limit: 2, cursor: page.next_cursor })).body).toMatchObject({ replayed: 2, refused: [] })
      expect((await letters()).map(({ record }) => record.resource_id)).toEqual(['k1'])
      expect(await audited("event_id LIKE 'audit_%' AND resource_id LIKE 'k_'")).toBe(4)
    })

    it('are not asked for with what is no cursor or id', async () => {
      expect((await ask('GET', '/dead-letters?cursor=x')).status).toBe(400)
      const never = `2026-13-45T25:61:61.000Z~letter_${'0'.repeat(32)}`
      expect((await ask('GET', `/dead-letters?cursor=${never}`)).status).toBe(400)
      expect((await replay({ cursor: never })).status).toBe(400)
      expect((await replay({ ids: ['\0'] })).status).toBe(404)
      expect((await replay({ ids: [] })).status).toBe(400)
      expect((await replay({ ids: ['letter_none'] })).status).toBe(404)
      expect((await replay({ id: 'x' })).status).toBe(400)
    })
  })
})
