import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { apiKeys, credentialRecord } from '../../src/identity/api-keys.ts'
import { GatewayError } from '../../src/lib/errors.ts'
import { jsonLog } from '../../src/lib/log.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import type { CallerRecord } from '../../src/stores/sql/records/caller-records.ts'
import { testClock } from '../support/clock.ts'

const LIMITS = { rpm_limit: null, tpm_limit: null, rph_limit: null, rpd_limit: null, tpd_limit: null }
const BUDGET = { max_budget: null, soft_budget: null, budget_duration: null, budget_started_at: '2026-01-01T00:00:00Z' }

function recordOf(version: number, fields: Partial<CallerRecord['key']> = {}): CallerRecord {
  const own = {
    key_id: 'key-1',
    owner_account_id: null,
    max_parallel_requests: null,
    allowed_ips: null,
    expires_at: null,
  }
  const key = { ...LIMITS, ...BUDGET, target_mode: null, version, revoked: false, ...own, ...fields }
  return { key, user: null, team: null, organization: null, bindings: [] }
}

/** Keys over a store of one process, and a database that answers when the test says so. */
function world() {
  const clock = testClock()
  const own = inProcessStore({ now: clock.now })
  const store: SharedStore = {
    ...own,
    async admit(call) {
      questions += 1
      // As one that is elsewhere.
      await new Promise((resolve) => setImmediate(resolve))
      return own.admit(call)
    },
  }
  let looks = 0
  let statements = 0
  let questions = 0
  const database: { answer(keyHash: string): Promise<CallerRecord | undefined> } = { answer: async () => undefined }
  const identify = apiKeys({
    hash: (key) => `hash of ${key}`,
    records: {
      byKeyHash: (hash) => {
        looks += 1
        statements += 1
        return database.answer(hash)
      },
      byKeyHashes: (hashes) => {
        looks += hashes.length
        statements += 1
        return Promise.all(hashes.map((hash) => database.answer(hash)))
      },
    },
    store,
    targetDefault: 'allow',
    callersKept: 20_000,
    graceMs: 600_000,
    now: clock.now,
    log: jsonLog('silent', () => {}),
  })
  const status = async (key: string) => {
    try {
      return (await identify(key, '10.0.0.1')).versions[0]?.version
    } catch (error) {
      return error instanceof GatewayError ? error.code : error
    }
  }
  return {
    clock,
    store,
    database,
    identify,
    status,
    looks: () => looks,
    statements: () => statements,
    questions: () => questions,
  }
}

const text = () => `sk-${randomBytes(32).toString('base64url')}`

describe('what is remembered of a key', () => {
  it('an answer of the database that began before a change does not bring the old record back', async () => {
    const { store, database, identify, looks } = world()
    const key = text()
    const slow = Promise.withResolvers<CallerRecord | undefined>()
    database.answer = () => slow.promise
    const early = identify(key, '10.0.0.1')
    await expect.poll(looks).toBe(1)
    // The change is written and made known while the old record is on its way.
    await store.publish({ records: [{ record: 'key:key-1', version: 2 }], removed: [] })
    database.answer = async () => recordOf(2)
    slow.resolve(recordOf(1))
    const old = await early
    const admission = {
      callId: 'c',
      attemptId: 'a',
      quotas: [],
      tokens: 1,
      slots: [],
      budgets: [],
      candidates: [],
      leaseSeconds: 1,
    }
    expect(await store.admit({ ...admission, versions: old.versions })).toMatchObject({ kind: 'stale' })
    const fresh = await old.again('10.0.0.1')
    expect(fresh.versions).toEqual([{ record: 'key:key-1', version: 2 }])
    expect((await identify(key, '10.0.0.1')).versions).toEqual(fresh.versions)
  })

  it('a key that is made while it is remembered as unknown works at once', async () => {
    const { store, database, status, looks } = world()
    const key = text()
    for (let turn = 0; turn < 5; turn++) expect(await status(key)).toBe('invalid_api_key')
    expect(looks()).toBe(1)
    database.answer = async () => recordOf(7)
    await store.publish({ records: [{ record: credentialRecord(`hash of ${key}`), version: 1 }], removed: [] })
    expect(await status(key)).toBe(7)
  })

  it('an unknown key is asked for again after half a minute, not before', async () => {
    const { clock, status, looks } = world()
    const key = text()
    await status(key)
    clock.advance(29_999)
    await status(key)
    expect(looks()).toBe(1)
    clock.advance(1)
    await status(key)
    expect(looks()).toBe(2)
  })

  it('many who ask for a key at once ask the database once; what is no key by its form never does', async () => {
    const { status, looks } = world()
    const key = text()
    await Promise.all(Array.from({ length: 100 }, () => status(key)))
    expect(looks()).toBe(1)
    for (const one of ['sk-short', 'x'.repeat(46), `${key}x`, key.slice(0, -1), key.replace('sk-', 'pk-')]) {
      expect(await status(one)).toBe('invalid_api_key')
    }
    expect(looks()).toBe(1)
  })

  it('1,000 unknown keys at once are asked for in a few questions, the first time and again', async () => {
    const { database, status, statements, questions, looks } = world()
    database.answer = () => new Promise((resolve) => setImmediate(resolve, undefined))
    const keys = Array.from({ length: 1000 }, text)
    for (let turn = 0; turn < 3; turn++) await Promise.all(keys.map(status))
    expect(looks()).toBe(1000)
    expect(statements()).toBeLessThan(1000 / 50 + 5)
    expect(questions()).toBeLessThan((2 * 1000) / 50 + 10)
  })

  it('one of many keys that are unknown is found as soon as it is made', async () => {
    const { store, database, status } = world()
    const keys = Array.from({ length: 200 }, text)
    await Promise.all(keys.map(status))
    database.answer = async () => recordOf(7)
    await store.publish({ records: [{ record: credentialRecord(`hash of ${keys[120]}`), version: 1 }], removed: [] })
    const answers = await Promise.all(keys.map(status))
    expect(answers.filter((answer) => answer === 7).length).toBe(1)
    expect(answers[120]).toBe(7)
  })

  it('200,000 unknown keys leave memory flat, and the newest are still remembered', async () => {
    const { status, looks } = world()
    const newest: string[] = []
    let heap = 0
    for (let at = 0; at < 200_000; at++) {
      const key = text()
      if (at >= 199_900) newest.push(key)
      await status(key)
      if (at === 110_000) heap = used()
    }
    expect(used() - heap).toBeLessThan(16_000_000)
    expect(looks()).toBe(200_000)
    for (const key of newest) await status(key)
    expect(looks()).toBe(200_000)
  }, 120_000)
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function used(): number {
  collect()
  return process.memoryUsage().heapUsed
}
