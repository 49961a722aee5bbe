import { describe, expect, it } from 'vitest'
import type { PreferredBy } from '../../../src/stores/kv/deployment-signals.ts'
import type { Admission } from '../../../src/stores/kv/shared-store.ts'
import { admitted, call, candidates, EVENING, ended, MINUTE, only, reserved, started, type World } from './world.ts'

/** Reservations, cooldowns, probes and means. */
export function deploymentsContract({ fresh }: World): void {
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
      expect(answer.reserved).toEqual({ deployment: 'north', at: EVENING + 1, probe: false })
      const nothing = { probing: false, latencyMs: 0, firstTokenMs: 0, samples: 0, sampledAt: 0, lastSuccessAt: 0 }
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

    it('names a cooldown in the answer to the settlement with which it begins, and in no other', async () => {
      const { store, open, clock } = fresh()
      const failed = (fields = {}) =>
        store.settle(ended(call(), { cooldown: { allowedFails: 1, seconds: 60 }, ...fields }))
      expect(await failed()).toBeUndefined()
      const [first, second] = [ended(call()), ended(call())]
      const cooled = [{ deployment: 'east', until: EVENING + MINUTE, failures: 2 }]
      expect(await store.settle(first)).toEqual(cooled)
      expect(await store.settle(first)).toBeUndefined()
      clock.advance(MINUTE - 1)
      // It only lasts longer.
      expect(await open().settle(second)).toBeUndefined()
      clock.advance(MINUTE - 1)
      expect(await failed({ deployment: 'west' })).toBeUndefined()
      clock.advance(1)
      // The probe fails: the next one begins.
      expect(await failed()).toEqual([{ deployment: 'east', until: EVENING + 3 * MINUTE - 1, failures: 4 }])
      expect(await failed({ result: 'succeeded' })).toBeUndefined()
      expect(await failed({ cooldown: { allowedFails: 0, seconds: 0 } })).toBeUndefined()
      const both = [ended(call()), ended(call(), { deployment: 'west' })].flatMap(({ outcomes }) => outcomes)
      expect(await store.settle({ ...ended(call()), outcomes: both })).toMatchObject([
        { deployment: 'east', failures: 2 },
        { deployment: 'west', failures: 2 },
      ])
    })

    it('admits without a reservation when none is free', async () => {
      const { store } = fresh()
      const full = [{ deployment: 'east', limits: { tokens: 0 } }]
      expect(await admitted(store, call({ candidates: full }))).toMatchObject({ reserved: undefined })
      expect(await admitted(store, call())).toMatchObject({ reserved: undefined, signals: [] })
    })

    it('reserves what is preferred by what it knows at this moment, of equals the first, and of those only that are free', async () => {
      const { store } = fresh()
      const three = [
        { deployment: 'east', limits: {}, capacity: { requests: 10, images: 1 } },
        { deployment: 'west', limits: {}, capacity: { requests: 20 } },
        { deployment: 'north', limits: {}, capacity: { tokens: 100 } },
      ]
      const preferring = (by: PreferredBy, some = three) =>
        reserved(store, call({ candidates: some, preference: { by, unit: 'tokens' } }))
      expect([await preferring('active'), await preferring('active'), await preferring('active')]).toEqual([
        'east',
        'west',
        'north',
      ])
      const succeeded = (deployment: string, latencyMs: number, used = {}) =>
        store.settle(ended(call(), { deployment, result: 'succeeded', latencyMs, used }))
      await succeeded('east', 30)
      await succeeded('west', 10)
      expect(await preferring('latency')).toBe('north')
      await succeeded('north', 20, { tokens: 8 })
      expect(await preferring('latency')).toBe('west')
      // 1 of 10, 2 of 20 and 8 of 100; then the first again.
      expect(await preferring('utilization')).toBe('north')
      await succeeded('north', 20, { tokens: 80 })
      expect([await preferring('utilization'), await preferring('utilization')]).toEqual(['east', 'west'])
      expect(await preferring('headroom', three.slice().reverse())).toBe('north')
      await succeeded('north', 20, { tokens: 3 })
      expect(await preferring('headroom', three.slice().reverse())).toBe('west')

      await store.settle(ended(call(), { deployment: 'west' }))
      expect(await preferring('latency')).toBe('north')
      const full = three.map((one) => (one.deployment === 'north' ? { ...one, limits: { tokens: 91 } } : one))
      expect(await preferring('latency', full)).toBe('east')
      // A limit of nothing is used up whole.
      const none = [{ deployment: 'east', limits: {}, capacity: { tokens: 0 } }, ...three.slice(2)]
      expect(await preferring('utilization', none)).toBe('north')
    })

    it('prefers what has not been measured for five minutes, once, so that a slow time is not kept for ever', async () => {
      const { store, clock } = fresh()
      const both = ['east', 'west'].map((deployment) => ({ deployment, limits: {} }))
      const preferred = () => reserved(store, call({ candidates: both, preference: { by: 'latency', unit: 'tokens' } }))
      const told = (deployment: string, fields: object) =>
        store.settle(ended(call(), { deployment, result: 'succeeded', ...fields }))
      await told('west', { latencyMs: 900 })
      clock.advance(2 * MINUTE)
      await told('east', { latencyMs: 10 })
      clock.advance(3 * MINUTE)
      expect(await preferred()).toBe('east')
      clock.advance(1)
      // A check that takes no time tells nothing of a latency.
      await told('west', {})
      expect([await preferred(), await preferred()]).toEqual(['west', 'east'])
    })

    it('gives a place back that nobody was asked at: its lease, its probe and, in the same minute, its request', async () => {
      const { store, clock } = fresh()
      const unused = async (admission: Admission, unusedSince: number, result: 'neutral' | 'failed' = 'neutral') => {
        await store.settle(ended(admission, { result, unusedSince, cooldown: { allowedFails: 9, seconds: 60 } }))
        const [east] = await store.signals(['east'])
        return [east?.active, east?.used.requests ?? 0]
      }
      const [first, second, third] = [1, 2, 3].map(() => call({ candidates: only, leaseSeconds: 120 })) as [
        Admission,
        Admission,
        Admission,
      ]
      const place = (await admitted(store, first)).reserved
      expect(place).toEqual({ deployment: 'east', at: EVENING, probe: false })
      await admitted(store, second)
      expect(await unused(first, EVENING)).toEqual([1, 1])
      // Once, and only by whoever has the place.
      expect(await unused(first, EVENING)).toEqual([1, 1])
      expect(await unused(call({ attemptId: first.attemptId }), EVENING)).toEqual([1, 1])
      clock.advance(MINUTE - 1)
      expect(await unused(second, EVENING, 'failed')).toEqual([0, 0])
      expect((await store.signals(['east']))[0]).toMatchObject({ failures: 1 })

      await admitted(store, third)
      clock.advance(1)
      const next = call({ candidates: only })
      await admitted(store, next)
      // Of the minute in which it was counted nothing is left.
      expect(await unused(third, EVENING + MINUTE - 1)).toEqual([1, 1])
      clock.advance(MINUTE)
      expect(await unused(next, EVENING + MINUTE)).toEqual([0, 0])

      await store.settle(ended(call()))
      clock.advance(MINUTE)
      const probe = call({ candidates: only })
      expect((await admitted(store, probe)).reserved).toMatchObject({ probe: true })
      expect(await unused(probe, EVENING + 3 * MINUTE)).toEqual([0, 0])
      const attempt = { attemptId: 'again', candidate: { deployment: 'east', limits: {} }, leaseSeconds: 30 }
      expect(await store.startAttempt(attempt)).toEqual({
        deployment: 'east',
        at: EVENING + 3 * MINUTE,
        probe: true,
      })
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

    it('is not cooled until a clock that was set back is there again, nor full', async () => {
      const { store, clock } = fresh()
      const full = [{ deployment: 'east', limits: { requests: 1 } }]
      const first = call({ candidates: full })
      await admitted(store, first)
      await store.settle(ended(first, { cooldown: { allowedFails: 0, seconds: 60 } }))
      clock.advance(-60 * MINUTE)
      const probe = call({ candidates: full })
      expect(await reserved(store, probe)).toBe('east')
      const cooled = await store.settle(ended(probe, { cooldown: { allowedFails: 0, seconds: 60 } }))
      expect(cooled).toEqual([{ deployment: 'east', until: EVENING - 59 * MINUTE, failures: 2 }])
      expect((await store.signals(['east']))[0]).toMatchObject({ cooledUntil: EVENING - 59 * MINUTE })
      clock.advance(-60 * MINUTE)
      // A failure that cools nothing itself does not bring the former cooldown back.
      await store.settle(ended(call(), { cooldown: { allowedFails: 0, seconds: 0 } }))
      expect((await store.signals(['east']))[0]).toMatchObject({ failures: 3, cooledUntil: 0 })
    })

    it('lets one probe through after a cooldown, from any number of callers, until that one has ended', async () => {
      const { store, open, clock } = fresh()
      const other = open()
      await store.settle(ended(call()))
      clock.advance(MINUTE)
      const asked = Array.from({ length: 20 }, () => call({ candidates: only }))
      const answers = await Promise.all(asked.map((admission, at) => admitted(at % 2 ? store : other, admission)))
      const probes = asked.filter((_, at) => answers[at]?.reserved?.deployment === 'east')
      expect(probes).toHaveLength(1)
      expect((await store.signals(['east']))[0]).toMatchObject({ probing: true, active: 1 })
      const probe = probes[0] as Admission

      await store.settle(ended(probe, { result: 'neutral' }))
      const second = call({ candidates: only })
      expect(await reserved(store, second)).toBe('east')
      const third = { attemptId: 'x', candidate: { deployment: 'east', limits: {} }, leaseSeconds: 30 }
      expect(await store.startAttempt(third)).toBeUndefined()
      await store.settle(ended(second, { result: 'succeeded' }))
      const free = [call({ candidates: only }), call({ candidates: only })]
      expect([await reserved(store, free[0] as Admission), await reserved(store, free[1] as Admission)]).toEqual([
        'east',
        'east',
      ])
    })

    it('lets the next probe through ten seconds after the process of one was killed, and none while one is renewed', async () => {
      const { store, open, clock } = fresh()
      const other = open()
      await store.settle(ended(call()))
      clock.advance(MINUTE)
      const killed = call({ candidates: only, leaseSeconds: 120 })
      expect((await admitted(store, killed)).reserved).toMatchObject({ probe: true })
      clock.advance(9_999)
      expect(await reserved(other, call({ candidates: only }))).toBeUndefined()
      clock.advance(1)
      const early = { early: true, candidate: { deployment: 'east', limits: {} }, leaseSeconds: 120 }
      const probe = { callId: 'long', attemptId: 'long', deployment: 'east' }
      expect(await other.startAttempt({ ...early, attemptId: 'long' })).toMatchObject({ probe: true })
      const lease = { callId: 'long', attemptIds: [probe], slots: [], budgets: [], leaseSeconds: 10 }
      for (let renewed = 0; renewed < 3; renewed++) {
        clock.advance(9000)
        await other.renew(lease)
        expect(await reserved(store, call({ candidates: only }))).toBeUndefined()
      }
      clock.advance(10_000)
      expect(await reserved(store, call({ candidates: only }))).toBe('east')
    })

    it('takes calls again as soon as the answer of a probe has begun, and the probe keeps its lease', async () => {
      const { store, open, clock } = fresh()
      const other = open()
      await store.settle(ended(call()))
      clock.advance(MINUTE)
      const probe = call({ candidates: only })
      expect((await admitted(store, probe)).reserved).toEqual({ deployment: 'east', at: EVENING + MINUTE, probe: true })
      expect(await reserved(other, call({ candidates: only }))).toBeUndefined()
      const begun = { ...ended(probe, { result: 'committed' }), callId: 'begun' }
      await store.settle(begun)
      const well = { failures: 0, cooledUntil: 0, probing: false }
      expect((await store.signals(['east']))[0]).toMatchObject({ ...well, active: 1, samples: 0, lastSuccessAt: 0 })
      const answers = [1, 2, 3].map(() => admitted(other, call({ candidates: only })))
      for (const { reserved } of await Promise.all(answers)) expect(reserved).toMatchObject({ probe: false })

      await store.settle(ended(probe, { result: 'failed' }))
      expect((await store.signals(['east']))[0]).toMatchObject({ failures: 1, active: 3 })
      // What is told behind its end clears nothing, and what it has said of itself is no sample.
      await store.settle({ ...begun, callId: 'begun late' })
      expect((await store.signals(['east']))[0]).toMatchObject({ failures: 1, cooledUntil: EVENING + 2 * MINUTE })
    })

    it('holds the cooldown against other calls, not against one that failed there and asks again', async () => {
      const { store, clock } = fresh()
      const attempt = (attemptId: string, retry: boolean, limits = {}) => ({
        attemptId,
        candidate: { deployment: 'east', limits },
        leaseSeconds: 30,
        retry,
      })
      await store.settle(ended(call()))
      expect([await started(store, attempt('a', false)), await started(store, attempt('b', true))]).toEqual([
        false,
        true,
      ])
      // It is no probe: an outage has its early one still. And what is full is full for everybody.
      expect((await store.signals(['east']))[0]).toMatchObject({ probing: false, active: 1 })
      expect(await started(store, { ...attempt('c', false), early: true })).toBe(true)
      expect(await started(store, attempt('d', true, { requests: 2 }))).toBe(false)
      await store.settle(ended(call(), { attemptId: 'c' }))
      // Where the cooldown is over, it is one of those who may try.
      clock.advance(MINUTE)
      expect([await started(store, attempt('e', true)), await started(store, attempt('f', true))]).toEqual([
        true,
        false,
      ])
      await store.settle(ended(call(), { attemptId: 'b', result: 'succeeded' }))
      expect((await store.signals(['east']))[0]).toMatchObject({ failures: 0, cooledUntil: 0, probing: false })
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

    it('gives an outage one early probe to those who ask for it, and each cooldown after that its one probe', async () => {
      const { store, open, clock } = fresh()
      const other = open()
      const probing = (attemptId: string, early = true) => ({
        attemptId,
        candidate: { deployment: 'east', limits: {} },
        leaseSeconds: 30,
        early,
      })
      const attempt = (attemptId: string, result: 'failed' | 'neutral' | 'succeeded') =>
        store.settle(ended(call(), { attemptId, result }))
      const granted = async (...attempts: string[]) => {
        const answers = attempts.map((id, at) => (at % 2 ? store : other).startAttempt(probing(id)))
        const places = await Promise.all(answers)
        return attempts.filter((_, at) => places[at])
      }
      await store.settle(ended(call()))
      expect(await reserved(store, call({ candidates: only }))).toBeUndefined()
      expect(await started(store, probing('a', false))).toBe(false)

      const [first = '', ...others] = await granted('a', 'b', 'c', 'd')
      expect(others).toEqual([])
      expect((await store.signals(['east']))[0]).toMatchObject({ probing: true, active: 1 })
      // A lost answer asked for again; one that says nothing gives the probe back.
      expect(await started(store, probing(first))).toBe(true)
      await attempt(first, 'neutral')
      expect(await started(store, probing('e'))).toBe(true)
      clock.advance(1000)
      await attempt('e', 'failed')
      expect((await store.signals(['east']))[0]?.cooledUntil).toBe(EVENING + 61_000)

      for (const due of ['f', 'g', 'h']) {
        expect(await granted(`${due}1`, `${due}2`)).toEqual([])
        clock.advance(MINUTE)
        expect(await started(store, probing(due))).toBe(true)
        expect(await granted(`${due}3`, `${due}4`)).toEqual([])
        await attempt(due, 'failed')
      }
      clock.advance(MINUTE)
      expect(await started(store, probing('i'))).toBe(true)
      await attempt('i', 'succeeded')
      await store.settle(ended(call()))
      expect(await granted('j', 'k')).toHaveLength(1)
    })

    it('starts a further attempt where it may, once per attempt id', async () => {
      const { store } = fresh()
      const start = (attemptId: string, limit = 9) => ({
        attemptId,
        candidate: { deployment: 'east', limits: { requests: limit } },
        leaseSeconds: 30,
      })
      expect([await started(store, start('a')), await started(store, start('a'))]).toEqual([true, true])
      expect((await store.signals(['east']))[0]).toMatchObject({ active: 1, used: { requests: 1 } })
      expect([await started(store, start('b', 1)), await started(store, start('b', 2))]).toEqual([false, true])
      await store.settle(ended(call()))
      expect(await started(store, start('c'))).toBe(false)
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
        sampledAt: EVENING,
        lastSuccessAt: EVENING,
      })
    })

    it('a success without a latency is no sample', async () => {
      const { store } = fresh()
      await store.settle(ended(call(), { result: 'failed', error: 'timeout' }))
      await store.settle(ended(call(), { result: 'succeeded' }))
      const known = { failures: 0, cooledUntil: 0, samples: 0, latencyMs: 0, lastSuccessAt: EVENING }
      expect((await store.signals(['east']))[0]).toMatchObject(known)
    })
  })
}
