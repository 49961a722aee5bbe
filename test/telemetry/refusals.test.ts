import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type RefusalCounts, refusalRecords, writeRefusals } from '../../src/stores/sql/spend/refusal-records.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import type { Delivery } from '../../src/telemetry/delivery/delivery.ts'
import type { RequestFinished } from '../../src/telemetry/events.ts'
import { refusalCounter } from '../../src/telemetry/refusals.ts'
import { preparedSql } from '../support/prepared-database.ts'

const refused = (changes: Partial<RequestFinished> = {}): RequestFinished => ({
  type: 'request.finished',
  at: '2026-03-04T05:06:07.089Z',
  requestId: 'req',
  method: 'POST',
  route: '/v1/chat/completions',
  modelCall: true,
  keyId: 'key-1',
  teamId: 'team-1',
  organizationId: 'org-1',
  userId: '',
  status: 429,
  errorType: 'rate_limit_error',
  code: 'key_rpm_exceeded',
  scope: 'key_rpm',
  totalMs: 1,
  ...changes,
})
const START = Date.parse('2026-03-04T05:06:07.000Z')

describe('the counter of refused calls', () => {
  let entries: RefusalCounts[]
  let away: boolean
  let deferred: Promise<void>[]
  let refusals: ReturnType<typeof refusalCounter>
  beforeEach(() => {
    vi.useFakeTimers({ now: START })
    entries = []
    away = false
    deferred = []
    const delivery = {
      deliver: (_topic: object, entry: object) => entries.push(entry as RefusalCounts),
      depth: () => (away ? 1 : 0),
      drain: async () => 0,
    } as unknown as Delivery
    refusals = refusalCounter(delivery, Date.now, (work) => deferred.push(work))
  })
  afterEach(() => vi.useRealTimers())

  /** What the database would have: the highest count of each kind and counter. */
  const held = () => {
    const highest = new Map<string, number>()
    for (const { counter, counts } of entries)
      for (const { calls, ...kind } of counts) {
        const key = JSON.stringify([counter, kind])
        highest.set(key, Math.max(calls, highest.get(key) ?? 0))
      }
    return [...highest.values()].reduce((sum, calls) => sum + calls, 0)
  }

  it('hands on what it has counted within a second, while the runtime is kept alive', async () => {
    for (let call = 0; call < 1000; call++) refusals.count(refused())
    expect(deferred).toHaveLength(1)
    vi.advanceTimersByTime(1000)
    await deferred[0]
    expect(entries).toEqual([
      {
        counter: expect.any(String),
        counts: [
          {
            minute: '2026-03-04T05:06:00.000Z',
            key_id: 'key-1',
            team_id: 'team-1',
            organization_id: 'org-1',
            user_id: '',
            endpoint: '/v1/chat/completions',
            code: 'key_rpm_exceeded',
            scope: 'key_rpm',
            calls: 1000,
          },
        ],
      },
    ])
    vi.advanceTimersByTime(60_000)
    expect(entries).toHaveLength(1)
  })

  it('tells minutes and kinds apart, and says no more of what has not changed', () => {
    refusals.count(refused())
    refusals.count(refused({ code: 'model_not_found', scope: '', status: 404 }))
    vi.advanceTimersByTime(1000)
    refusals.count(refused())
    vi.advanceTimersByTime(60_000)
    refusals.count(refused())
    vi.advanceTimersByTime(1000)
    expect(entries.map(({ counts }) => counts.map(({ minute, calls }) => [minute.slice(11, 16), calls]))).toEqual([
      [
        ['05:06', 1],
        ['05:06', 1],
      ],
      [['05:06', 2]],
      [['05:07', 1]],
    ])
    expect(held()).toBe(4)
  })

  it.each([
    ['of a stranger', { keyId: '' }],
    ['that is no model call', { modelCall: false }],
    ['that was answered', { status: 200 }],
    ['whose client left', { status: 499 }],
  ])('leaves out a request %s', (_, changes) => {
    refusals.count(refused(changes))
    refusals.delivery.drain(0)
    expect(entries).toEqual([])
  })

  it('counts any number of kinds in a bounded number of rows, and each call once', () => {
    for (let call = 0; call < 5000; call++) {
      refusals.count(refused({ keyId: `key-${call}`, code: call % 2 === 0 ? 'a' : 'b' }))
    }
    refusals.delivery.drain(0)
    const rows = entries.flatMap(({ counts }) => counts)
    expect(rows).toHaveLength(202)
    expect(Math.max(...entries.map((entry) => JSON.stringify(entry).length))).toBeLessThan(100_000)
    expect(rows.filter(({ key_id }) => key_id === '').map(({ calls }) => calls)).toEqual([2400, 2400])
    expect(held()).toBe(5000)
  })

  it('hands on less often while the database does not take it, and loses none', () => {
    away = true
    for (let second = 0; second < 60; second++) {
      refusals.count(refused())
      vi.advanceTimersByTime(1000)
    }
    expect(entries.length).toBeLessThan(9)
    refusals.delivery.drain(0)
    expect(held()).toBe(60)
  })

  it('hands on half a second later what came while the database took its time', () => {
    refusals.count(refused())
    vi.advanceTimersByTime(1000)
    away = true
    refusals.count(refused())
    vi.advanceTimersByTime(1200)
    expect(held()).toBe(1)
    away = false
    vi.advanceTimersByTime(500)
    expect(held()).toBe(2)
  })

  it('goes on where the request that was to hand on was ended with its timer', () => {
    refusals.count(refused())
    vi.clearAllTimers()
    vi.setSystemTime(START + 3000)
    refusals.count(refused())
    vi.setSystemTime(START + 8000)
    refusals.count(refused())
    vi.advanceTimersByTime(1000)
    expect(held()).toBe(3)
  })
})

describe('the counts of refused calls in the database', () => {
  let sql: Sql
  beforeEach(async () => {
    sql ??= await preparedSql()
    await sql.query({ sql: 'DELETE FROM gateway_refusal', parameters: [] })
  })
  const count = (calls: number, changes: object = {}) => ({
    minute: '2026-03-04T05:06:00.000Z',
    key_id: 'key-1',
    team_id: '',
    organization_id: 'org-1',
    user_id: '',
    endpoint: '/v1/chat/completions',
    code: 'key_rpm_exceeded',
    scope: 'key_rpm',
    calls,
    ...changes,
  })
  const page = (query: object = {}) => refusalRecords(sql).page('everything', { limit: 100, ...query })

  it('are those of all counters together, in whatever order and however often they are written', async () => {
    const one = [1, 5, 9].map((calls) => ({ counter: 'one', counts: [count(calls)] }))
    const other = [2, 3].map((calls) => ({ counter: 'other', counts: [count(calls), count(calls, { code: 'x' })] }))
    await writeRefusals(sql, [...one.toReversed(), ...other])
    await writeRefusals(sql, [...one, ...other.toReversed()])
    await writeRefusals(sql, [])
    expect((await page()).map(({ code, calls }) => [code, calls])).toEqual([
      ['x', '3'],
      ['key_rpm_exceeded', '12'],
    ])
  })

  it('go with age, in steps', async () => {
    const minutes = Array.from({ length: 7 }, (_, day) => new Date(Date.now() - (day + 1) * 86_400_000).toISOString())
    await writeRefusals(sql, [{ counter: 'one', counts: minutes.map((minute) => count(1, { minute })) }])
    const { remove } = refusalRecords(sql)
    expect([await remove(3, 2), await remove(3, 100), await remove(3, 100)]).toEqual([2, 3, 0])
    expect(await page()).toHaveLength(2)
  })
})
