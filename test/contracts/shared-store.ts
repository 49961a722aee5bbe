import { describe, expect, it } from 'vitest'
import type { DeploymentOutcome } from '../../src/stores/kv/deployment-signals.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import type { Key } from '../../src/stores/kv/keys.ts'
import type { Admission, Admitted, Settlement, SharedStore } from '../../src/stores/kv/shared-store.ts'
import { testClock } from '../support/clock.ts'
import { seededRandom } from '../support/random.ts'
import type { RawRedis } from '../support/raw-redis.ts'
import { observe, sharedStoreSteps } from '../support/shared-store-steps.ts'

export interface StoreUnderTest {
  /** Stores opened with one prefix see the same things. Without `now` they go by their own clock. */
  open(options: { readonly prefix: string; readonly now?: () => number }): SharedStore
  /** What the store wrote, where it can be looked at. */
  readonly raw?: RawRedis
  /** Lives of the differential suite, and steps in each. */
  readonly lives: number
  readonly steps: number
}

const EVENING = Date.UTC(2026, 1, 10, 20, 17, 23, 456)
const MINUTE = 60_000

/** What every adapter of `SharedStore` must do, told one promise a test, and then compared with the model at random. */
export function sharedStoreContract(name: string, subject: StoreUnderTest): void {
  const suite = Math.random().toString(36).slice(2, 10)
  let opened = 0

  function fresh() {
    opened += 1
    const prefix = `test:${suite}:${opened}:`
    const clock = testClock(EVENING)
    const open = () => subject.open({ prefix, now: clock.now })
    return { prefix, clock, open, store: open() }
  }

  let calls = 0
  function call(fields: Partial<Admission> = {}): Admission {
    calls += 1
    const empty = { versions: [], quotas: [], slots: [], budgets: [], candidates: [], leaseSeconds: 30 }
    return { callId: `call-${calls}`, attemptId: `attempt-${calls}`, ...empty, ...fields }
  }
  const settlement = (callId: string, fields: Partial<Settlement> = {}): Settlement => ({
    callId,
    slots: [],
    budgets: [],
    outcomes: [],
    counters: {},
    entries: [],
    ...fields,
  })
  const ended = (admission: Admission, fields: Partial<DeploymentOutcome> = {}): Settlement => {
    const cooldown = { allowedFails: 0, seconds: 60 }
    const outcome = {
      attemptId: admission.attemptId,
      deployment: 'east',
      result: 'failed',
      used: {},
      cooldown,
    } as const
    return settlement(admission.callId, { outcomes: [{ ...outcome, ...fields }] })
  }
  const requests = (limit: number, cost = 1) =>
    ({ scope: 'key_rpm', subject: 'key:1', unit: 'requests', window: 'minute', limit, cost }) as const
  const slot = (limit: number) => ({ scope: 'key_parallel_requests', subject: 'key:1', limit })
  const budget = (limitNano: number, holdNano: number, period = '2026-02', seedNano: number | 'unseeded' = 0) => ({
    scope: 'team_budget',
    subject: 'team:1',
    limitNano,
    holdNano,
    period,
    ...(seedNano === 'unseeded' ? {} : { seedNano }),
  })
  const candidates = (...names: string[]) => names.map((deployment) => ({ deployment, limits: {} }))
  const only = candidates('east')

  async function admitted(store: SharedStore, admission: Admission): Promise<Admitted> {
    const answer = await store.admit(admission)
    if (answer.kind !== 'admitted') throw new Error(`expected admitted, was ${JSON.stringify(answer)}`)
    return answer
  }
  const reserved = async (store: SharedStore, admission: Admission) => (await admitted(store, admission)).reserved
  async function kinds(store: SharedStore, ...admissions: Admission[]): Promise<string[]> {
    const seen: string[] = []
    for (const admission of admissions) seen.push((await store.admit(admission)).kind)
    return seen
  }

  describe(name, () => {
    describe('limits', () => {
      it('admits exactly 100 of 500 concurrent calls against a limit of 100, from two clients', async () => {
        const { store, open } = fresh()
        const other = open()
        const answers = await Promise.all(
          Array.from({ length: 500 }, (_, at) => (at % 2 ? store : other).admit(call({ quotas: [requests(100)] }))),
        )
        expect(answers.filter(({ kind }) => kind === 'admitted')).toHaveLength(100)
        expect(answers.filter(({ kind }) => kind === 'refused')).toHaveLength(400)
      })

      it('counts what it admits and says until when', async () => {
        const { store, clock } = fresh()
        await admitted(store, call({ quotas: [requests(5, 2)] }))
        clock.advance(1000)
        const { quotas, now } = await admitted(store, call({ quotas: [requests(5, 2)] }))
        expect(now).toBe(EVENING + 1000)
        expect(quotas).toEqual([{ scope: 'key_rpm', unit: 'requests', limit: 5, used: 4, resetsAt: EVENING + MINUTE }])
      })

      it('refuses in the order given, and names the end of the window that refused', async () => {
        const { store } = fresh()
        const daily = { ...requests(1), scope: 'org_rpd', subject: 'org:1', window: 'day' } as const
        const hourly = { ...requests(1), scope: 'key_rph', window: 'hour' } as const
        await admitted(store, call({ quotas: [daily, hourly], slots: [slot(1)], budgets: [budget(1, 1)] }))
        const full = { slots: [slot(1)], budgets: [budget(1, 1)] }
        const refusal = { kind: 'refused', now: EVENING }
        expect(await store.admit(call({ quotas: [daily, hourly], ...full }))).toEqual({
          ...refusal,
          reason: 'quota',
          scope: 'org_rpd',
          resetsAt: Date.UTC(2026, 1, 11),
        })
        expect(await store.admit(call({ quotas: [hourly, daily], ...full }))).toEqual({
          ...refusal,
          reason: 'quota',
          scope: 'key_rph',
          resetsAt: Date.UTC(2026, 1, 10, 21),
        })
        expect(await store.admit(call(full))).toEqual({
          ...refusal,
          reason: 'slot',
          scope: 'key_parallel_requests',
          resetsAt: undefined,
        })
        expect(await store.admit(call({ budgets: full.budgets }))).toEqual({
          ...refusal,
          reason: 'budget',
          scope: 'team_budget',
          resetsAt: undefined,
        })
      })

      it.each([
        ['minute', EVENING + MINUTE],
        ['hour', Date.UTC(2026, 1, 10, 21)],
        ['day', Date.UTC(2026, 1, 11)],
      ] as const)('forgets a %s at its end, not before', async (window, end) => {
        const { store, clock } = fresh()
        const quotas = [{ ...requests(1), window }]
        clock.set(EVENING)
        await admitted(store, call({ quotas }))
        clock.set(end - 1)
        expect(await kinds(store, call({ quotas }))).toEqual(['refused'])
        clock.set(end)
        expect(await kinds(store, call({ quotas }), call({ quotas }))).toEqual(['admitted', 'refused'])
      })

      it('refuses everything at limit 0, even what costs nothing; a free call passes a limit that is used up', async () => {
        const { store } = fresh()
        expect(await kinds(store, call({ quotas: [requests(0, 0)] }))).toEqual(['refused'])
        expect(
          await kinds(
            store,
            call({ quotas: [requests(1)] }),
            call({ quotas: [requests(1, 0)] }),
            call({ quotas: [requests(1)] }),
          ),
        ).toEqual(['admitted', 'admitted', 'refused'])
      })

      it.runIf(subject.raw)(
        'leaves every key and value as it was when it refuses or finds something stale',
        async () => {
          const { store, prefix, clock } = fresh()
          const raw = subject.raw as RawRedis
          const quotas = [{ ...requests(3), subject: 'org:1' }, requests(2)]
          const rest = { slots: [slot(2)], versions: [{ record: 'key:1', version: 7 }], candidates: only }
          const first = call({ quotas, budgets: [budget(10, 5)], leaseSeconds: 5, ...rest })
          await admitted(store, first)
          await admitted(store, call({ quotas, budgets: [budget(10, 5)], leaseSeconds: 60, ...rest }))
          // The first lease has ended: what could be tidied up must be left alone, too.
          clock.advance(6000)
          const before = await raw.dump(prefix)
          expect(Object.keys(before).length).toBeGreaterThanOrEqual(8)
          const newer = [
            { record: 'key:1', version: 8 },
            { record: 'key:2', version: 1 },
          ]
          expect(
            await kinds(
              store,
              call({ quotas, ...rest, versions: newer }),
              call({ quotas: [{ ...requests(9), subject: 'org:2' }, requests(2)], versions: newer }),
              call({
                quotas: [{ ...requests(9), subject: 'org:1' }],
                slots: [slot(1)],
                versions: newer,
                candidates: only,
              }),
              call({
                quotas: [{ ...requests(9), subject: 'org:1' }],
                budgets: [budget(5, 1)],
                versions: newer,
                candidates: only,
              }),
              call({ quotas: [{ ...requests(9), subject: 'org:1' }], budgets: [budget(5, 1, '2026-03', 9)] }),
              call({ quotas: [{ ...requests(9), subject: 'org:1' }], versions: [{ record: 'key:1', version: 6 }] }),
            ),
          ).toEqual(['refused', 'refused', 'refused', 'refused', 'refused', 'stale'])
          expect(await raw.dump(prefix)).toEqual(before)
        },
      )
    })

    describe('parallel slots', () => {
      it('frees a slot when its call settles, and when its lease ends', async () => {
        const { store, clock } = fresh()
        const first = call({ slots: [slot(2)] })
        expect(await kinds(store, first, call({ slots: [slot(2)] }), call({ slots: [slot(2)] }))).toEqual([
          'admitted',
          'admitted',
          'refused',
        ])
        await store.settle(settlement(first.callId, { slots: ['key:1'] }))
        expect(await kinds(store, call({ slots: [slot(2)] }), call({ slots: [slot(2)] }))).toEqual([
          'admitted',
          'refused',
        ])
        clock.advance(29_999)
        expect(await kinds(store, call({ slots: [slot(2)] }))).toEqual(['refused'])
        clock.advance(1)
        expect(await kinds(store, call({ slots: [slot(2)] }))).toEqual(['admitted'])
      })

      it('gives a call that asks again no second slot and no second hold', async () => {
        const { store } = fresh()
        const again = call({ slots: [slot(2)], budgets: [budget(10, 5)] })
        expect(await kinds(store, again, again, again)).toEqual(['admitted', 'admitted', 'admitted'])
        const other = call({ slots: [slot(2)], budgets: [budget(10, 5)] })
        expect(await kinds(store, other, again)).toEqual(['admitted', 'admitted'])
        expect(await kinds(store, call({ slots: [slot(2)] }), call({ budgets: [budget(10, 1)] }))).toEqual([
          'refused',
          'refused',
        ])
      })

      it('keeps what is renewed, and does not revive what has ended', async () => {
        const { store, clock } = fresh()
        const long = call({ slots: [slot(1)], budgets: [budget(5, 5)], candidates: only })
        await admitted(store, long)
        const lease = {
          callId: long.callId,
          attemptIds: [{ attemptId: long.attemptId, deployment: 'east' }],
          slots: ['key:1'],
          budgets: [{ subject: 'team:1', holdNano: 5 }],
          leaseSeconds: 30,
        }
        clock.advance(20_000)
        await store.renew(lease)
        clock.advance(20_000)
        expect(await kinds(store, call({ slots: [slot(1)] }), call({ budgets: [budget(5, 1)] }))).toEqual([
          'refused',
          'refused',
        ])
        expect((await store.signals(['east']))[0]?.active).toBe(1)
        clock.advance(10_000)
        await store.renew(lease)
        expect((await store.signals(['east']))[0]?.active).toBe(0)
        expect(await kinds(store, call({ slots: [slot(1)] }), call({ budgets: [budget(5, 5)] }))).toEqual([
          'admitted',
          'admitted',
        ])
      })
    })

    describe('budgets', () => {
      const DIME = 100_000_000

      it('lets 50 of 200 concurrent calls of $0.10 into a budget of $5.00, and all the rest of it is spendable', async () => {
        const { store, open } = fresh()
        const other = open()
        const asked = Array.from({ length: 200 }, () => call({ budgets: [budget(50 * DIME, DIME)] }))
        const answers = await Promise.all(asked.map((admission, at) => (at % 2 ? store : other).admit(admission)))
        const passed = asked.filter((_, at) => answers[at]?.kind === 'admitted')
        expect(passed).toHaveLength(50)
        const spent = { subject: 'team:1', period: '2026-02', holdNano: DIME, spentNano: DIME / 2 }
        await Promise.all(passed.map(({ callId }) => other.settle(settlement(callId, { budgets: [spent] }))))
        expect(
          await kinds(
            store,
            call({ budgets: [budget(50 * DIME, 25 * DIME)] }),
            call({ budgets: [budget(50 * DIME, 1)] }),
          ),
        ).toEqual(['admitted', 'refused'])
      })

      it('is usable at once after calls with huge holds were cancelled or never settled', async () => {
        const { store, clock } = fresh()
        const cancelled = call({ budgets: [budget(100, 100)] })
        expect(await kinds(store, cancelled, call({ budgets: [budget(100, 1)] }))).toEqual(['admitted', 'refused'])
        await store.settle(
          settlement(cancelled.callId, {
            budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 100, spentNano: 0 }],
          }),
        )
        expect(await kinds(store, call({ budgets: [budget(100, 100)] }))).toEqual(['admitted'])
        clock.advance(30_000)
        expect(await kinds(store, call({ budgets: [budget(100, 100)] }))).toEqual(['admitted'])
      })

      it('refuses a free call when the budget is spent, and everything at 0', async () => {
        const { store } = fresh()
        expect(await kinds(store, call({ budgets: [budget(10, 0, '2026-02', 10)] }))).toEqual(['refused'])
        expect(await kinds(store, call({ budgets: [budget(0, 0)] }))).toEqual(['refused'])
        expect(await kinds(store, call({ budgets: [budget(11, 0, '2026-02', 10)] }))).toEqual(['admitted'])
      })

      it('starts a new period at its seed or at nothing, holds a late call against the newer one', async () => {
        const { store } = fresh()
        expect(await kinds(store, call({ budgets: [budget(10, 0, '2026-02', 9)] }))).toEqual(['admitted'])
        expect(await kinds(store, call({ budgets: [budget(10, 2, '2026-02', 'unseeded')] }))).toEqual(['refused'])
        expect(await kinds(store, call({ budgets: [budget(10, 2, '2026-03', 8)] }))).toEqual(['admitted'])
        expect(await kinds(store, call({ budgets: [budget(10, 1, '2026-02', 0)] }))).toEqual(['refused'])
        expect(await kinds(store, call({ budgets: [budget(10, 8, '2026-04', 'unseeded')] }))).toEqual(['admitted'])
      })

      it('adds what was spent to its own period only', async () => {
        const { store } = fresh()
        const spent = (period: string, spentNano: number) =>
          store.settle(settlement(call().callId, { budgets: [{ subject: 'team:1', period, holdNano: 0, spentNano }] }))
        await admitted(store, call({ budgets: [budget(100, 0, '2026-02', 50)] }))
        await spent('2026-01', 40)
        await spent('2026-02', 40)
        expect(await kinds(store, call({ budgets: [budget(90, 0)] }), call({ budgets: [budget(91, 0)] }))).toEqual([
          'refused',
          'admitted',
        ])
        await spent('2026-03', 7)
        await spent('2026-02', 1000)
        const march = (limit: number) => call({ budgets: [budget(limit, 0, '2026-03', 'unseeded')] })
        expect(await kinds(store, march(7), march(8))).toEqual(['refused', 'admitted'])
      })

      it('is exact to the nano-dollar in the millions', async () => {
        const { store } = fresh()
        const millions = 9_007_199_254_740_000
        const first = call({ budgets: [budget(millions, 1, '', millions - 3)] })
        await admitted(store, first)
        await store.settle(
          settlement(first.callId, { budgets: [{ subject: 'team:1', period: '', holdNano: 1, spentNano: 1 }] }),
        )
        expect(
          await kinds(
            store,
            call({ budgets: [budget(millions, 1, '', 'unseeded')] }),
            call({ budgets: [budget(millions, 1, '', 'unseeded')] }),
            call({ budgets: [budget(millions, 1, '', 'unseeded')] }),
          ),
        ).toEqual(['admitted', 'admitted', 'refused'])
      })

      it('stays unknown when only a settlement names it', async () => {
        const { store } = fresh()
        await store.settle(
          settlement('gone', { budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 1, spentNano: 5 }] }),
        )
        expect(await store.admit(call({ budgets: [budget(9, 1, '2026-02', 'unseeded')] }))).toEqual({
          kind: 'stale',
          records: [],
          budgets: ['team:1'],
        })
      })
    })

    describe('versions', () => {
      it('names every stale record and every unknown budget together', async () => {
        const { store } = fresh()
        await store.publish([
          { record: 'key:1', version: 4 },
          { record: 'org:1', version: 10 },
        ])
        const versions = [
          { record: 'org:1', version: 9 },
          { record: 'team:1', version: 1 },
          { record: 'key:1', version: 0 },
        ]
        const unknown = budget(9, 1, '2026-02', 'unseeded')
        const budgets = [unknown, { ...unknown, subject: 'key:1' }, { ...unknown, subject: 'user:1', seedNano: 0 }]
        expect(await store.admit(call({ versions, budgets, quotas: [requests(0)] }))).toEqual({
          kind: 'stale',
          records: ['org:1', 'key:1'],
          budgets: ['team:1', 'key:1'],
        })
      })

      it('learns newer versions from those who read them, never goes back', async () => {
        const { store } = fresh()
        const at = (version: number) => call({ versions: [{ record: 'key:1', version }] })
        expect(await kinds(store, at(0), at(9), at(8), at(10), at(9))).toEqual([
          'admitted',
          'admitted',
          'stale',
          'admitted',
          'stale',
        ])
        await store.publish([{ record: 'key:1', version: 3 }])
        expect(await kinds(store, at(9), at(10))).toEqual(['stale', 'admitted'])
        await store.publish([{ record: 'key:1', version: 11 }])
        expect(await kinds(store, at(10), at(11))).toEqual(['stale', 'admitted'])
      })
    })

    describe('deployments', () => {
      it('reserves the first that is neither cooled nor full, and tells of all as they were before', async () => {
        const { store, clock } = fresh()
        const broken = call({ candidates: only })
        await admitted(store, broken)
        await store.settle(ended(broken, { error: 'timeout' }))
        await admitted(store, call({ candidates: candidates('west') }))
        clock.advance(1)
        const answer = await admitted(
          store,
          call({
            candidates: [
              { deployment: 'east', limits: {} },
              { deployment: 'west', limits: { requests: 1 } },
              { deployment: 'north', limits: { requests: 1, tokens: 5 } },
            ],
          }),
        )
        expect(answer.reserved).toBe('north')
        const nothing = { probing: false, latencyMs: 0, firstTokenMs: 0, samples: 0, lastSuccessAt: 0 }
        const well = { ...nothing, failures: 0, cooledUntil: 0, lastError: '', lastErrorAt: 0 }
        expect(answer.signals).toEqual([
          {
            ...nothing,
            deployment: 'east',
            active: 0,
            used: { requests: 1 },
            failures: 1,
            cooledUntil: EVENING + MINUTE,
            lastError: 'timeout',
            lastErrorAt: EVENING,
          },
          { ...well, deployment: 'west', active: 1, used: { requests: 1 } },
          { ...well, deployment: 'north', active: 0, used: {} },
        ])
        expect((await store.signals(['north']))[0]).toMatchObject({ active: 1, used: { requests: 1 } })
      })

      it('admits without a reservation when none is free', async () => {
        const { store } = fresh()
        const full = [{ deployment: 'east', limits: { tokens: 0 } }]
        expect(await admitted(store, call({ candidates: full }))).toMatchObject({ reserved: undefined })
        expect(await admitted(store, call())).toMatchObject({ reserved: undefined, signals: [] })
      })

      it('counts real usage into the running minute, which starts at its first use', async () => {
        const { store, clock } = fresh()
        const first = call({ candidates: only })
        await admitted(store, first)
        clock.advance(30_000)
        await store.settle(ended(first, { result: 'succeeded', used: { tokens: 120, audioSeconds: 1.25 } }))
        expect((await store.signals(['east']))[0]?.used).toEqual({ requests: 1, tokens: 120, audioSeconds: 1.25 })
        const limited = [{ deployment: 'east', limits: { tokens: 120 } }]
        expect(await reserved(store, call({ candidates: limited }))).toBeUndefined()
        clock.advance(30_000)
        expect((await store.signals(['east']))[0]?.used).toEqual({})
        expect(await reserved(store, call({ candidates: limited }))).toBe('east')
        expect((await store.signals(['east']))[0]?.used).toEqual({ requests: 1 })
      })

      it('cools after more failures in a row than allowed; later failures never shorten it, 0 seconds turns it off', async () => {
        const { store, clock } = fresh()
        const fail = async (allowedFails: number, seconds: number) => {
          await store.settle(ended(call(), { cooldown: { allowedFails, seconds } }))
          return (await store.signals(['east']))[0]
        }
        expect(await fail(1, 60)).toMatchObject({ failures: 1, cooledUntil: 0 })
        expect(await fail(1, 0)).toMatchObject({ failures: 2, cooledUntil: 0 })
        expect(await fail(1, 60)).toMatchObject({ failures: 3, cooledUntil: EVENING + MINUTE })
        clock.advance(1000)
        expect(await fail(1, 5)).toMatchObject({ failures: 4, cooledUntil: EVENING + MINUTE })
        expect(await fail(1, 90)).toMatchObject({ failures: 5, cooledUntil: EVENING + 91_000 })
        await store.settle(ended(call(), { result: 'succeeded' }))
        expect((await store.signals(['east']))[0]).toMatchObject({ failures: 0, cooledUntil: 0 })
      })

      it('lets one probe through after a cooldown, from any number of callers, until that one has ended', async () => {
        const { store, open, clock } = fresh()
        const other = open()
        await store.settle(ended(call()))
        clock.advance(MINUTE)
        const asked = Array.from({ length: 20 }, () => call({ candidates: only }))
        const answers = await Promise.all(asked.map((admission, at) => admitted(at % 2 ? store : other, admission)))
        const probes = asked.filter((_, at) => answers[at]?.reserved === 'east')
        expect(probes).toHaveLength(1)
        expect((await store.signals(['east']))[0]).toMatchObject({ probing: true, active: 1 })
        const probe = probes[0] as Admission

        await store.settle(ended(probe, { result: 'neutral' }))
        const second = call({ candidates: only })
        expect(await reserved(store, second)).toBe('east')
        expect(
          await store.startAttempt({ attemptId: 'x', candidate: { deployment: 'east', limits: {} }, leaseSeconds: 30 }),
        ).toBe(false)
        await store.settle(ended(second, { result: 'succeeded' }))
        const free = [call({ candidates: only }), call({ candidates: only })]
        expect([await reserved(store, free[0] as Admission), await reserved(store, free[1] as Admission)]).toEqual([
          'east',
          'east',
        ])
      })

      it('lets another probe through when the lease of one has ended', async () => {
        const { store, clock } = fresh()
        await store.settle(ended(call()))
        clock.advance(MINUTE)
        const lost = call({ candidates: only })
        expect(await reserved(store, lost)).toBe('east')
        clock.advance(30_000)
        const second = call({ candidates: only })
        expect(await reserved(store, second)).toBe('east')
        // What the lost one says at last must not let a third in beside the second.
        await store.settle(ended(lost, { result: 'neutral' }))
        expect((await store.signals(['east']))[0]).toMatchObject({ probing: true, active: 1 })
        expect(await reserved(store, call({ candidates: only }))).toBeUndefined()
      })

      it('probes the one that cools soonest early, once in a cooldown, when nothing else is left', async () => {
        const { store, clock } = fresh()
        await store.settle(ended(call(), { deployment: 'west', cooldown: { allowedFails: 0, seconds: 50 } }))
        await store.settle(ended(call()))
        const both = candidates('east', 'west')
        expect(await reserved(store, call({ candidates: candidates('east', 'north') }))).toBe('north')
        const early = call({ candidates: both })
        expect(await reserved(store, early)).toBe('west')
        expect(await reserved(store, early)).toBe('west')
        expect(await reserved(store, call({ candidates: both }))).toBeUndefined()
        clock.advance(1000)
        await store.settle(ended(early, { deployment: 'west' }))
        expect((await store.signals(['west']))[0]?.cooledUntil).toBe(EVENING + 61_000)
        // Now the other cools sooner.
        const other = call({ candidates: both })
        expect(await reserved(store, other)).toBe('east')
        await store.settle(ended(other, { result: 'neutral' }))
        const again = call({ candidates: both })
        expect(await reserved(store, again)).toBe('east')
        await store.settle(ended(again))
        expect(await reserved(store, call({ candidates: both }))).toBeUndefined()
      })

      it('starts a further attempt where it may, once per attempt id', async () => {
        const { store } = fresh()
        const start = (attemptId: string, limit = 9) => ({
          attemptId,
          candidate: { deployment: 'east', limits: { requests: limit } },
          leaseSeconds: 30,
        })
        expect([await store.startAttempt(start('a')), await store.startAttempt(start('a'))]).toEqual([true, true])
        expect((await store.signals(['east']))[0]).toMatchObject({ active: 1, used: { requests: 1 } })
        expect([await store.startAttempt(start('b', 1)), await store.startAttempt(start('b', 2))]).toEqual([
          false,
          true,
        ])
        await store.settle(ended(call()))
        expect(await store.startAttempt(start('c'))).toBe(false)
      })

      it('keeps decaying means of successes', async () => {
        const { store } = fresh()
        const succeed = (latencyMs: number, firstTokenMs?: number) =>
          store.settle(ended(call(), { result: 'succeeded', latencyMs, ...(firstTokenMs ? { firstTokenMs } : {}) }))
        await succeed(100, 10)
        await succeed(200)
        await store.settle(ended(call(), { latencyMs: 9999 }))
        await succeed(1.5, 20)
        expect((await store.signals(['east']))[0]).toMatchObject({
          latencyMs: 130 + 0.3 * (1.5 - 130),
          firstTokenMs: 13,
          samples: 3,
          lastSuccessAt: EVENING,
        })
      })
    })

    describe('settling', () => {
      it('twice is once', async () => {
        const { store, clock } = fresh()
        const paid = call({ budgets: [budget(100, 10)], candidates: only })
        await admitted(store, paid)
        const outcome = {
          ...ended(paid, { used: { tokens: 5 } }),
          budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 10, spentNano: 10 }],
          counters: { requests: 1, seconds: 0.25 },
          entries: [{ log: 'fallbacks', text: 'one', keep: 10 }],
        }
        await Promise.all([store.settle(outcome), store.settle(outcome)])
        clock.advance(59_000)
        await store.settle(outcome)
        expect((await store.signals(['east']))[0]).toMatchObject({ failures: 1, used: { requests: 1, tokens: 5 } })
        expect(await store.counters()).toEqual({ requests: 1, seconds: 0.25 })
        expect(await store.entries('fallbacks', 10)).toEqual(['one'])
        expect(await kinds(store, call({ budgets: [budget(100, 90)] }))).toEqual(['admitted'])
      })

      it('keeps the newest entries of a log, newest first', async () => {
        const { store } = fresh()
        for (const text of ['1', '2', '3', '4']) {
          await store.settle(settlement(call().callId, { entries: [{ log: 'fallbacks', text, keep: 3 }] }))
        }
        expect(await store.entries('fallbacks', 10)).toEqual(['4', '3', '2'])
        expect(await store.entries('fallbacks', 1)).toEqual(['4'])
        expect(await store.entries('fallbacks', 0)).toEqual([])
      })
    })

    describe('values', () => {
      const state = 'state:1' as Key
      const text = '{"quoted":"\\"é☃𝄞","null":null,"number":12345678901234567890}'

      it('come back as they were, letter by letter', async () => {
        const { store } = fresh()
        for (const value of [text, '', 'null', '007', '1e3', 'OK', 'a\nb\0c']) {
          await store.put(state, value, 60)
          expect(await store.get(state)).toBe(value)
        }
        await store.remove(state)
        expect(await store.get(state)).toBeUndefined()
        await store.remove()
      })

      it('have one winner of putNew and of take', async () => {
        const { store, open } = fresh()
        const other = open()
        const put = await Promise.all(
          Array.from({ length: 10 }, (_, at) => (at % 2 ? store : other).putNew(state, `${at}`, 60)),
        )
        expect(put.filter(Boolean)).toHaveLength(1)
        expect(await store.get(state)).toBe(`${put.indexOf(true)}`)
        const taken = await Promise.all(Array.from({ length: 10 }, (_, at) => (at % 2 ? store : other).take(state)))
        expect(taken.filter((value) => value !== undefined)).toEqual([`${put.indexOf(true)}`])
      })

      it('end with their time', async () => {
        opened += 1
        const store = subject.open({ prefix: `test:${suite}:${opened}:` })
        await store.put(state, text, 0.2)
        expect(await store.putNew(state, 'other', 60)).toBe(false)
        await new Promise((resolve) => setTimeout(resolve, 300))
        expect(await store.get(state)).toBeUndefined()
        expect(await store.putNew(state, 'other', 60)).toBe(true)
      })
    })

    it("goes by the store's own clock", async () => {
      opened += 1
      const store = subject.open({ prefix: `test:${suite}:${opened}:` })
      const { now, quotas } = await admitted(store, call({ quotas: [requests(5)] }))
      expect(Math.abs(now - Date.now())).toBeLessThan(5000)
      expect(quotas[0]?.resetsAt).toBe(now + MINUTE)
      await store.ping(1000)
    })

    it.runIf(subject.raw)('carries on when the server has lost its scripts', async () => {
      const { store } = fresh()
      await admitted(store, call({ slots: [slot(2)] }))
      await (subject.raw as RawRedis).command('SCRIPT', 'FLUSH')
      expect(await kinds(store, call({ slots: [slot(2)] }), call({ slots: [slot(2)] }))).toEqual([
        'admitted',
        'refused',
      ])
    })

    it.runIf(subject.raw)('writes nothing that stays for ever but the counters', async () => {
      const { store, prefix } = fresh()
      const full = call({
        versions: [
          { record: 'key:1', version: 1 },
          { record: 'nobody', version: 0 },
        ],
        quotas: [requests(5)],
        slots: [slot(5)],
        budgets: [budget(50, 5)],
        candidates: only,
      })
      await admitted(store, full)
      await store.settle({
        ...ended(call({ candidates: only })),
        counters: { requests: 1 },
        entries: [{ log: 'fallbacks', text: 'x', keep: 5 }],
      })
      await store.put('state:1' as Key, 'x', 60)
      const dump = await (subject.raw as RawRedis).dump(prefix)
      expect(Object.keys(dump).length).toBe(11)
      const lasting = Object.entries(dump).filter(([, { endsAt }]) => Number(endsAt) < 0)
      expect(lasting.map(([key]) => key)).toEqual([`${prefix}gateway:counters`])
    })

    it.runIf(subject.raw)('tidies up after calls that never settled', async () => {
      const { store, clock, prefix } = fresh()
      const raw = subject.raw as RawRedis
      for (let at = 0; at < 5; at++) {
        await admitted(store, call({ slots: [slot(9)], budgets: [budget(50, 5)], candidates: only }))
        clock.advance(31_000)
      }
      for (const key of ['slots:key:1', 'holds:team:1', 'active:east']) {
        expect(await raw.command('ZCARD', `${prefix}gateway:${key}`), key).toBe(1)
      }
    })

    it.runIf(subject.raw)('neither pins nor forgets holds when the server evicts half of a budget', async () => {
      const { store, prefix } = fresh()
      const raw = subject.raw as RawRedis
      await admitted(store, call({ budgets: [budget(10, 9)] }))
      await raw.command('DEL', `${prefix}gateway:holds:team:1`)
      expect(await kinds(store, call({ budgets: [budget(10, 9)] }))).toEqual(['admitted'])
      await raw.command('DEL', `${prefix}gateway:budget:team:1`)
      expect(await kinds(store, call({ budgets: [budget(10, 2)] }), call({ budgets: [budget(10, 1)] }))).toEqual([
        'refused',
        'admitted',
      ])
    })

    it.runIf(subject.lives > 0)(
      `answers ${subject.lives} random lives of ${subject.steps} steps as the model does`,
      {
        timeout: 120_000,
      },
      async () => {
        const seen: Record<string, number> = {}
        for (let seed = 1; seed <= subject.lives; seed++) {
          const { store, clock } = fresh()
          const model = inProcessStore({ now: clock.now })
          const nextStep = sharedStoreSteps(seededRandom(seed), clock)
          for (let at = 1; at <= subject.steps; at++) {
            const step = nextStep()
            const expected = await step.run(model)
            const answer = await step.run(store)
            const told = `life ${seed}, step ${at}: ${step.name} ${JSON.stringify(step.input)}`
            expect(answer, told).toEqual(expected)
            if (at % 20 === 0) expect(await observe(store), `after ${told}`).toEqual(await observe(model))
            const kind = (expected as { kind?: string; reason?: string } | undefined)?.kind
            const reason = (expected as { reason?: string } | undefined)?.reason ?? ''
            if (kind) seen[kind + reason] = (seen[kind + reason] ?? 0) + 1
          }
        }
        // A life in which nothing is ever refused would prove nothing.
        for (const kind of ['admitted', 'stale', 'refusedquota', 'refusedslot', 'refusedbudget']) {
          expect(seen[kind] ?? 0, `${kind} in ${JSON.stringify(seen)}`).toBeGreaterThan(subject.lives)
        }
      },
    )
  })
}
