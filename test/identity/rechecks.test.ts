import { expect, it } from 'vitest'
import { rechecks } from '../../src/identity/rechecks.ts'
import { testClock } from '../support/clock.ts'

it('an entry is looked at again although the clock was set back since', async () => {
  const clock = testClock()
  let checks = 0
  const recheck = async () => void checks++
  const { whenDue } = rechecks({ recheck, now: clock.now, defer: () => {} })
  const entry = { checkedAt: clock.now() }
  whenDue(entry, false)
  expect(checks).toBe(0)
  clock.advance(-3_600_000)
  whenDue(entry, false)
  expect(checks).toBe(1)
  clock.advance(19_999)
  whenDue(entry, false)
  expect(checks).toBe(1)
  clock.advance(1)
  whenDue(entry, false)
  expect(checks).toBe(2)
})
