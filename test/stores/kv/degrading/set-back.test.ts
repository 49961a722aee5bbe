import { expect, it } from 'vitest'
import { jsonLog } from '../../../../src/lib/log.ts'
import { createBreaker } from '../../../../src/stores/kv/degrading/breaker.ts'
import { degrading } from '../../../../src/stores/kv/degrading.ts'
import { inProcessStore } from '../../../../src/stores/kv/in-process.ts'
import { StoreUnavailable } from '../../../../src/stores/kv/store-unavailable.ts'

const HOUR_MS = 3_600_000

it('a store that is away is looked after although the clock was set back meanwhile', () => {
  let now = 10 * HOUR_MS
  const breaker = createBreaker(() => now)
  breaker.failed(breaker.period, 'refused')
  expect(breaker.takeProbe()).toBe(false)
  now -= HOUR_MS
  expect(breaker.takeProbe()).toBe(true)
  expect(breaker.takeProbe()).toBe(false)
  now += 1000
  expect(breaker.takeProbe()).toBe(true)
})

it('what was confirmed at a time that is yet to come is not taken for confirmed until then', async () => {
  let now = 10 * HOUR_MS
  const local = () => inProcessStore({ now: () => now })
  const away = () => Promise.reject(new StoreUnavailable('unreachable'))
  const log = jsonLog('silent', () => {})
  const store = degrading({ ...local(), admit: away }, { local, mode: 'fail_open', now: () => now, log })
  const versions = [{ record: 'key:1', version: 1, remembered: true }]
  const nothing = { quotas: [], tokens: 0, slots: [], budgets: [], candidates: [], leaseSeconds: 30 }
  const call = { callId: 'call', attemptId: 'attempt', versions, confirmedAt: now, ...nothing }
  expect(await store.admit(call)).toMatchObject({ kind: 'admitted', unconfirmed: true })
  now -= HOUR_MS
  expect(await store.admit(call)).toMatchObject({ kind: 'stale', unconfirmed: true, records: ['key:1'] })
})
