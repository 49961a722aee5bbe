import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { type GatewayProcess, type Place, place } from '../../runtimes/node/gateway-process.ts'
import { configuration } from '../../support/configuration.ts'
import { earlierBuild, earlierBuildExists } from '../../support/earlier-build.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'

const postgresUrl = inject('postgresUrl')
/** A shallow clone has no earlier build. */
const isThere = postgresUrl !== '' && inject('redisUrl') !== '' && earlierBuildExists
/** What neither build may have to say. */
const TROUBLE = ['internal', 'job.failed', 'records.failed', 'records.dead', 'store.degraded', 'routing.stale']

describe.skipIf(!isThere)('the build of the former schema beside that of today', { timeout: 240_000 }, () => {
  let upstream: Upstream
  let redis: RedisServer
  let older: Place
  let newer: Place
  const started: GatewayProcess[] = []
  beforeAll(async () => {
    upstream = await startUpstream()
    redis = (await startRedis()) as RedisServer
    older = await place(await earlierBuild())
    newer = await place()
  })
  // A test that is asked once more answers for what it starts then.
  beforeEach(() => {
    started.length = 0
  })
  afterAll(async () => {
    await Promise.all([older?.clear(), newer?.clear()])
    await redis?.stop()
    await upstream?.close()
  })

  async function start(home: Place, database: string): Promise<GatewayProcess> {
    const yaml = configuration({
      general_settings: { database_url: database, redis_url: redis.url },
      model_list: [{ model_name: 'of-the-file', gateway_params: { model: 'echo/echo' } }],
    })
    const gateway = await home.start({ yaml, env: { GATEWAY_SALT_KEY: 'salt-of-two-builds-5d1e08c4f2' } })
    await gateway.greeted()
    started.push(gateway)
    return gateway
  }

  async function admin(gateway: GatewayProcess, method: string, path: string, body?: object) {
    const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
    const answer = await gateway.fetch(`/ui/api/${path}`, { method, ...init })
    const said = await answer.json()
    expect(answer.status, `${method} ${path}: ${JSON.stringify(said)}`).toBeLessThan(300)
    return said
  }
  const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
  const status = async (gateway: GatewayProcess, key: string, model = 'm') => {
    const asked = { model, max_tokens: 5 }
    const answer = await gateway.chat(asked, as(key)).catch(() => new Response('', { status: 599 }))
    await answer.text()
    return answer.status
  }
  const model = (id: string) => ({
    deployment_id: id,
    model_name: id,
    gateway_params: { model: 'openai-compatible/m', api_base: `${upstream.url}/v1`, api_key: 'sk-provider-5d1e08c4' },
    model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.001 },
  })
  function expectNoTrouble(): void {
    const said = started.flatMap((gateway) => TROUBLE.flatMap((event) => gateway.logged(event)))
    expect(said).toEqual([])
  }

  it('goes on without a failed call while the database is upgraded under it, and both count as one', async () => {
    const database = await freshDatabase(postgresUrl)
    const sql = new pg.Pool({ connectionString: database, max: 2 })
    let over = false
    try {
      const old = await start(older, database)
      await admin(old, 'POST', 'models', model('m'))
      const { organization_id } = await admin(old, 'POST', 'organizations', {})
      const { team_id } = await admin(old, 'POST', 'teams', { organization_id })
      const { key } = await admin(old, 'POST', 'keys', { team_id })
      await expect.poll(() => status(old, key)).toBe(200)
      const live = [old]
      const statuses: Record<number, number> = {}
      const calling = [0, 1].map(async (first) => {
        for (let at = first; !over; at++) {
          const found = await status(live[at % live.length] as GatewayProcess, key)
          statuses[found] = (statuses[found] ?? 0) + 1
          await wait(20)
        }
      })

      const now = await start(newer, database)
      live.push(now)
      const both = [old, now] as const
      // What one writes, the other reads.
      await admin(now, 'POST', 'models', model('from-the-new'))
      await admin(old, 'POST', 'models', model('from-the-old'))
      for (const gateway of both) {
        for (const name of ['from-the-new', 'from-the-old', 'of-the-file']) {
          await expect.poll(() => status(gateway, key, name)).toBe(200)
        }
      }
      for (const [maker, user] of [
        [old, now],
        [now, old],
      ] as const) {
        const made = await admin(maker, 'POST', 'keys', { team_id, rpm_limit: 20 })
        const calls = Array.from({ length: 60 }, (_, at) => status(both[at % 2] as GatewayProcess, made.key))
        const passed = (await Promise.all(calls)).filter((code) => code === 200)
        expect(passed, 'of a limit of 20, over both builds').toHaveLength(20)
        const budgeted = await admin(user, 'POST', 'keys', { max_budget: 0.1 })
        const spent: number[] = []
        while (spent.length < 60 && !spent.includes(429)) {
          spent.push(await status(both[spent.length % 2] as GatewayProcess, budgeted.key))
        }
        expect(spent.at(-1), `the budget ends: ${spent}`).toBe(429)
        expect(spent[0]).toBe(200)
        for (const gateway of both) expect(await status(gateway, budgeted.key)).toBe(429)
        await admin(user, 'POST', `keys/${made.key_id}/revoke`)
        for (const gateway of both) expect(await status(gateway, made.key)).toBe(401)
      }
      over = true
      await Promise.all(calling)
      expect(Object.keys(statuses)).toEqual(['200'])

      // Every call that passed is in the ledger once, whoever wrote it, and both say the same of it.
      const told = async () => {
        const { rows } = await sql.query(
          'SELECT count(*)::int AS calls, count(DISTINCT call_id)::int AS ids, count(*) FILTER (WHERE status = 200)::int AS good FROM gateway_spend',
        )
        const sums = await Promise.all(both.map((gateway) => admin(gateway, 'GET', 'spend/summary')))
        const [one, other] = sums.map(({ total }) => total)
        const isSame = one.calls === rows[0].calls && other.calls === one.calls && other.spend === one.spend
        return { isSame, isOnce: rows[0].ids === rows[0].calls, isWhole: rows[0].good >= Number(statuses[200]) }
      }
      await expect.poll(told).toEqual({ isSame: true, isOnce: true, isWhole: true })

      // Back: the former build starts again on what the new one has upgraded, and the new one beside it.
      old.kill('SIGTERM')
      expect(await old.ended).toMatchObject({ code: 0 })
      const again = await start(older, database)
      for (const gateway of [again, now]) expect(await status(gateway, key)).toBe(200)
      expectNoTrouble()
    } finally {
      over = true
      await sql.end()
      await Promise.all([older.end(), newer.end()])
    }
  })

  it('starts on a database that it never saw', async () => {
    const database = await freshDatabase(postgresUrl)
    const now = await start(newer, database)
    await admin(now, 'POST', 'models', model('m'))
    const { key } = await admin(now, 'POST', 'keys', {})
    const old = await start(older, database)
    for (const gateway of [old, now]) expect(await status(gateway, key)).toBe(200)
    expectNoTrouble()
  })
})
