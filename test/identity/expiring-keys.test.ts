import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { expiringKeys } from '../../src/identity/expiring-keys.ts'
import { startPostgresOverHttp } from '../../src/runtimes/local/postgres-over-http.node.ts'
import { neonSql } from '../../src/stores/sql/adapters/neon.ts'
import { nodePostgresSql } from '../../src/stores/sql/adapters/node-postgres.node.ts'
import { keyNoticeRecords } from '../../src/stores/sql/key-notice-records.ts'
import { applySchema } from '../../src/stores/sql/schema/apply-schema.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import type { KeyExpiring } from '../../src/telemetry/notices.ts'
import { preparedEmbeddedSql } from '../support/embedded-database.node.ts'
import { preparedDatabase } from '../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')
const schemaText = readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8')
const DAY_MS = 86_400_000
const running = new AbortController().signal

describe.each([
  ['PostgreSQL, over TCP and over HTTP', true],
  ['PGlite', false],
] as const)('keys that end soon, in %s', (_, onServer) => {
  const possible = !onServer || postgresUrl !== ''
  let processes: readonly Sql[] = []
  let close = async () => {}
  beforeAll(async () => {
    if (!possible) return
    if (!onServer) {
      const sql = await preparedEmbeddedSql()
      processes = [sql, sql]
    } else {
      const connectionString = await preparedDatabase(postgresUrl)
      const http = await startPostgresOverHttp({ postgresUrl: connectionString, port: 0 })
      const named = Object.assign(new URL(connectionString), { hostname: 'expiring-keys.test' }).href
      processes = [nodePostgresSql({ connectionString }), neonSql({ connectionString: named, fetchEndpoint: http.url })]
      close = () => http.close()
    }
    await applySchema(processes[0] as Sql, schemaText)
  })
  afterAll(async () => {
    for (const sql of new Set(processes)) await sql.close()
    await close()
  })
  beforeEach(async () => {
    if (possible) await ask('DELETE FROM gateway_key')
  })

  const ask = async <Row>(text: string, ...parameters: unknown[]) =>
    ((await processes[0]?.query<Row>({ sql: text, parameters })) ?? { rows: [] }).rows
  /** Keys that end so many days from now; null: never. */
  const plant = (ends: Record<string, number | null>) =>
    ask(
      `INSERT INTO gateway_key (key_id, key_hash, key_name, expires_at)
        SELECT id, 'hash of ' || id, 'name of ' || id, at FROM unnest($1::text[], $2::timestamptz[]) AS given (id, at)`,
      Object.keys(ends),
      Object.values(ends).map((days) => (days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString())),
    )

  /** What both processes tell in one run of the job at the same time, by key. */
  async function told(days: readonly number[]): Promise<Record<string, number[]>> {
    const events: KeyExpiring[] = []
    const emit = (event: unknown) => void events.push(event as KeyExpiring)
    const jobs = processes.map((sql) =>
      expiringKeys(days, {
        records: keyNoticeRecords(sql),
        telemetry: { emit, settledCounters: () => ({}) },
        clock: { now: Date.now },
      }),
    )
    await Promise.all(jobs.map((job) => job.run(running)))
    const byKey: Record<string, number[]> = {}
    for (const { keyId, days: come } of events) byKey[keyId] = [...(byKey[keyId] ?? []), come]
    return byKey
  }

  describe.skipIf(!possible)('of two processes', () => {
    it('are told of once for each of the days, the nearest of several that have come', async () => {
      await plant({ today: 0.5, soon: 5, later: 20, far: 40, never: null, over: -1 })
      expect(await told([30, 7, 1])).toEqual({ today: [1], soon: [7], later: [30] })
      expect(await told([30, 7, 1])).toEqual({})
      const nearer = new Date(Date.now() + 0.9 * DAY_MS).toISOString()
      await ask(`UPDATE gateway_key SET expires_at = expires_at - interval '14 days' WHERE key_id = 'later'`)
      await ask(`UPDATE gateway_key_notice SET expires_at = key.expires_at FROM gateway_key AS key
        WHERE key.key_id = gateway_key_notice.key_id`)
      expect(await told([30, 7, 1])).toEqual({ later: [7] })
      // Another end is another matter, nearer or farther.
      await ask(`UPDATE gateway_key SET expires_at = $1 WHERE key_id = 'soon'`, nearer)
      await ask(`UPDATE gateway_key SET expires_at = now() + interval '25 days' WHERE key_id = 'today'`)
      expect(await told([30, 7, 1])).toEqual({ soon: [1], today: [30] })
    })

    it('are not told of when they are revoked, or when no day is asked for', async () => {
      await plant({ revoked: 3 })
      await ask('UPDATE gateway_key SET revoked_at = now()')
      expect(await told([7])).toEqual({})
      expect(expiringKeys([], {} as Parameters<typeof expiringKeys>[1]).everySeconds).toBe(0)
    })

    it('are told of in steps, however many there are', async () => {
      await plant(Object.fromEntries(Array.from({ length: 730 }, (_, at) => [`many-${at}`, 1 + at / 1000])))
      const first = await told([7])
      // One process may give way to the other; the next run does the rest.
      const all = { ...first, ...(await told([7])), ...(await told([7])) }
      expect(Object.keys(all)).toHaveLength(730)
      expect(Object.values(all).every((days) => days.length === 1)).toBe(true)
    })

    it('are found by an index', async () => {
      await plant(Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`idle-${at}`, at < 2990 ? null : 3])))
      await ask('ANALYZE gateway_key')
      const asked: string[] = []
      const looking: Sql = {
        ...(processes[0] as Sql),
        query: async ({ sql, parameters }) => {
          const plan = await ask<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, ...parameters)
          asked.push(...plan.map((row) => row['QUERY PLAN']))
          return { rows: [], affected: 0 }
        },
      }
      await keyNoticeRecords(looking).due([7, 1], 100)
      expect(asked.join('\n')).toContain('gateway_key_end')
      expect(asked.join('\n')).not.toContain('Seq Scan on gateway_key key')
    })
  })
})
