import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { apiKeys } from '../../src/identity/api-keys.ts'
import { GatewayError } from '../../src/lib/errors.ts'
import { jsonLog } from '../../src/lib/log.ts'
import { admitRequest } from '../../src/pipeline/admit/admit-request.ts'
import { storeClock } from '../../src/pipeline/admit/store-clock.ts'
import type { PipelineServices } from '../../src/pipeline/services.ts'
import { degrading } from '../../src/stores/kv/degrading.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import { authKey } from '../../src/stores/kv/keys.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import { StoreUnavailable } from '../../src/stores/kv/store-unavailable.ts'
import type { CallerRecord } from '../../src/stores/sql/records/caller-records.ts'
import { SqlError } from '../../src/stores/sql/sql.ts'
import { type TestClock, testClock } from '../support/clock.ts'

const SECOND = 1000
const ADDRESS = '10.0.0.1'
const log = jsonLog('silent', () => {})

const limits = (version: number) => ({
  ...{
    rpm_limit: null,
    tpm_limit: null,
    rph_limit: null,
    rpd_limit: null,
    tpd_limit: null,
    target_mode: null,
    version,
  },
  ...{ max_budget: null, soft_budget: null, budget_duration: null, budget_started_at: '2026-01-01T00:00:00Z' },
})

/** A key of a team, as the database has it. */
function recordOf(versions: { key: number; team: number }, revoked = false): CallerRecord {
  const own = { key_id: 'k', owner_account_id: null, max_parallel_requests: null, allowed_ips: null, expires_at: null }
  const key = { ...limits(versions.key), ...own, revoked }
  return { key, user: null, team: { ...limits(versions.team), team_id: 't' }, organization: null, bindings: [] }
}

/** What all processes share: the store, and a database. */
function world() {
  const clock = testClock()
  const shared = inProcessStore({ now: clock.now })
  const database = {
    record: recordOf({ key: 1, team: 1 }) as CallerRecord | undefined,
    line: 'open' as 'open' | 'closed' | 'stalled',
    looks: 0,
  }
  return { clock, shared, database, key: `sk-${randomBytes(32).toString('base64url')}` }
}
type World = ReturnType<typeof world>

/** One process, with a line of its own to the store. */
function process({ clock, shared, database, key }: World, graceMs = 600 * SECOND) {
  const line = { open: true }
  const primary = new Proxy(shared, {
    get(target, verb: keyof SharedStore) {
      const own = target[verb]
      if (verb === 'mode' || verb === 'close') return own
      return async (...input: unknown[]) => {
        if (!line.open) throw new StoreUnavailable('unreachable')
        return (own as (...input: unknown[]) => unknown)(...input)
      }
    },
  })
  const local = () => inProcessStore({ now: clock.now })
  const store = degrading(primary, { local, mode: 'fail_open', now: clock.now, log })
  const pending: Promise<void>[] = []
  const identify = apiKeys({
    hash: (text) => `hash of ${text}`,
    records: {
      async byKeyHash() {
        database.looks += 1
        const { record } = database
        if (database.line === 'stalled') await new Promise((resolve) => setTimeout(resolve, 50))
        if (database.line !== 'open') throw new SqlError('away')
        return record
      },
      byKeyHashes(hashes) {
        return Promise.all(hashes.map(this.byKeyHash))
      },
    },
    store,
    targetDefault: 'allow',
    callersKept: 100,
    graceMs,
    now: clock.now,
    log,
    defer: (work) => pending.push(work),
  })
  const services = { store, clock, storeClock: storeClock(clock) } as unknown as PipelineServices
  /** The status of a call. */
  async function call(): Promise<number> {
    try {
      const caller = await identify(key, ADDRESS)
      await admitRequest(services, { caller, address: ADDRESS, requestId: 'r', tokens: 1 })
      return 200
    } catch (error) {
      if (error instanceof SqlError) return 503
      return error instanceof GatewayError ? error.status : 0
    } finally {
      await Promise.all(pending.splice(0))
    }
  }
  return { line, store, call }
}

/** Calls every so many seconds; for how long they were answered. */
async function answeredFor(clock: TestClock, call: () => Promise<number>, everySeconds: number): Promise<number> {
  const startedAt = clock.now()
  while ((await call()) === 200) {
    clock.advance(everySeconds * SECOND)
    if (clock.now() - startedAt > 4000 * SECOND) break
  }
  return (clock.now() - startedAt) / SECOND
}

describe('a change of which the shared store was never told', () => {
  it.each([1, 7, 20, 29])(
    'ends a key that is used every %i s within a minute, and a second process with it',
    async (pause) => {
      const here = world()
      const { clock, database } = here
      const [one, two] = [process(here), process(here)]
      expect([await one.call(), await two.call()]).toEqual([200, 200])
      database.record = recordOf({ key: 2, team: 1 }, true)
      expect(await answeredFor(clock, one.call, pause)).toBeLessThanOrEqual(60)
      // It has told the others.
      expect(await two.call()).toBe(401)
      expect(await process(here).call()).toBe(401)
    },
  )

  it('ends a key that is gone, and what the store keeps of it', async () => {
    const here = world()
    const one = process(here)
    expect(await one.call()).toBe(200)
    here.database.record = undefined
    expect(await answeredFor(here.clock, one.call, 5)).toBeLessThanOrEqual(60)
    expect(await here.shared.get(authKey(`hash of ${here.key}`))).toBeUndefined()
    expect(await process(here).call()).toBe(401)
  })

  it('changes the limits of a team, also for a process that read its key of the shared store', async () => {
    const here = world()
    const one = process(here)
    expect(await one.call()).toBe(200)
    const record = recordOf({ key: 1, team: 2 })
    here.database.record = { ...record, team: record.team && { ...record.team, rpd_limit: 0 } }
    here.clock.advance(120 * SECOND)
    const two = process(here)
    expect([await two.call(), await two.call()]).toEqual([200, 200])
    expect(await two.call()).toBe(429)
    expect(await one.call()).toBe(429)
  })

  it('costs a key in use three looks at the database in a minute', async () => {
    const { clock, database, ...rest } = world()
    const one = process({ clock, database, ...rest })
    for (let second = 0; second < 300; second++) {
      expect(await one.call()).toBe(200)
      clock.advance(SECOND)
    }
    expect(database.looks).toBeLessThanOrEqual(16)
  })

  it('is not undone by a look that began before it', async () => {
    const here = world()
    const one = process(here)
    expect(await one.call()).toBe(200)
    const old = here.database.record
    here.database.record = recordOf({ key: 3, team: 1 })
    await here.shared.publish({ records: [{ record: 'key:k', version: 3 }], removed: [] })
    expect(await one.call()).toBe(200)
    // What a replica that lags behind, or a slow look, would say.
    here.database.record = old
    for (let turn = 0; turn < 10; turn++) {
      here.clock.advance(20 * SECOND)
      expect(await one.call()).toBe(200)
    }
    const kept = await here.shared.admit({
      ...{
        callId: 'c',
        attemptId: 'c',
        quotas: [],
        tokens: 0,
        slots: [],
        budgets: [],
        candidates: [],
        leaseSeconds: 1,
      },
      versions: [{ record: 'key:k', version: 1 }],
    })
    expect(kept).toMatchObject({ kind: 'stale' })
  })
})

describe('while the shared store is away', () => {
  it('nobody who was not heard of for a minute is believed without a look at the database', async () => {
    const here = world()
    const one = process(here)
    expect(await one.call()).toBe(200)
    here.database.record = recordOf({ key: 2, team: 1 }, true)
    await here.shared.publish({ records: [{ record: 'key:k', version: 2 }], removed: [] })
    here.clock.advance(61 * SECOND)
    one.line.open = false
    expect(await one.call()).toBe(401)
  })

  it.each([0, 1, 13, 40])(
    'a key that was revoked elsewhere ends within a minute, %i s after its last call',
    async (idle) => {
      const here = world()
      const one = process(here)
      expect(await one.call()).toBe(200)
      here.clock.advance(idle * SECOND)
      one.line.open = false
      here.database.record = recordOf({ key: 2, team: 1 }, true)
      expect(idle + (await answeredFor(here.clock, one.call, 1))).toBeLessThanOrEqual(60)
    },
  )

  it.each([60, 600])(
    'and the database too, keys that were good are believed for %i s, then nobody',
    async (seconds) => {
      const here = world()
      const { clock, database } = here
      const one = process(here, seconds * SECOND)
      for (let turn = 0; turn < 20; turn++) {
        expect(await one.call()).toBe(200)
        clock.advance(30 * SECOND)
      }
      expect(await one.call()).toBe(200)
      one.line.open = false
      database.line = 'closed'
      const believed = await answeredFor(clock, one.call, 2)
      expect(believed).toBeGreaterThanOrEqual(seconds - 2)
      expect(believed).toBeLessThanOrEqual(seconds + 2)
      for (let turn = 0; turn < 5; turn++) expect(await one.call()).toBe(503)
      // One of the two is enough.
      database.line = 'open'
      clock.advance(2 * SECOND)
      await one.call()
      expect(await one.call()).toBe(200)
    },
  )

  it('a database that stalls keeps one call waiting, and not every one', async () => {
    const here = world()
    const one = process(here)
    expect(await one.call()).toBe(200)
    here.clock.advance(100 * SECOND)
    one.line.open = false
    here.database.line = 'stalled'
    expect(await one.call()).toBe(200)
    const { looks } = here.database
    for (let turn = 0; turn < 20; turn++) expect(await one.call()).toBe(200)
    expect(here.database.looks).toBe(looks)
  })

  it('whoever knows of a change believes nobody, database or not', async () => {
    const here = world()
    const one = process(here)
    expect(await one.call()).toBe(200)
    one.line.open = false
    const told = one.store.publish({ records: [{ record: 'team:t', version: 2 }], removed: [] })
    here.database.line = 'closed'
    expect(await one.call()).toBe(503)
    here.database.line = 'open'
    here.database.record = recordOf({ key: 1, team: 2 })
    expect(await one.call()).toBe(200)
    expect(await told).toBe(false)
    await one.store.close()
  })
})
