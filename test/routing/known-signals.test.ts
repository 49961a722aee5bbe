import { expect, it } from 'vitest'
import { knownSignals } from '../../src/routing/known-signals.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import { testClock } from '../support/clock.ts'

it('what was heard of deployments that are removed is forgotten', async () => {
  const signals = knownSignals(Date.now)
  const store = inProcessStore({ now: Date.now })
  const used = { requests: 3 }
  signals.learn((await store.signals(['stays', 'goes'])).map((one) => ({ ...one, used })))
  signals.keep(new Set(['stays', 'new']))
  expect(signals.of('stays').used).toEqual(used)
  expect(signals.of('goes').used).toEqual({})
})

it('a deployment that nothing is heard of is not taken for busy for more than a minute or so', async () => {
  const clock = testClock(Date.UTC(2026, 1, 10))
  const signals = knownSignals(clock.now)
  const heard = (deployment: string) => ({
    ...signals.of(deployment),
    active: 7,
    used: { requests: 3 },
    probing: true,
    latencyMs: 90,
    cooledUntil: clock.now() + 1000,
  })
  signals.learn([heard('silent'), heard('heard')])
  const before = signals.of('silent')
  clock.advance(59_000)
  signals.learn([heard('heard')])
  expect(signals.of('silent')).toEqual(before)
  clock.advance(7000)
  signals.learn([heard('heard')])
  expect(signals.of('silent')).toEqual({ ...before, active: 0, used: {}, probing: false })
  expect(signals.of('heard').active).toBe(7)
})
