import { expect, it } from 'vitest'
import { keptList } from '../../../src/mcp/listing/kept-list.ts'
import { testClock } from '../../support/clock.ts'
import { patient } from '../../support/tool-servers.ts'

it('a list is renewed although the runtime has killed a request that renewed it', async () => {
  const clock = testClock()
  let lists = 0
  let isKilled = false
  const list = keptList({
    fetch() {
      lists += 1
      return isKilled ? new Promise(() => {}) : Promise.resolve({ tools: [], leftOut: [] })
    },
    now: clock.now,
    defer: () => {},
    failed: () => {},
    hung: () => undefined,
  })
  await list.get(patient)
  clock.advance(61_000)
  isKilled = true
  await list.get(patient)
  await list.get(patient)
  expect(lists).toBe(2)
  clock.advance(61_000)
  isKilled = false
  await list.get(patient)
  expect(lists).toBe(3)
  await list.get(patient)
  expect(lists).toBe(3)
})
