import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { expiringMap } from '../../../../src/stores/kv/in-process/expiring-map.ts'
import { createLeases } from '../../../../src/stores/kv/in-process/leases.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Megabytes that are still there after some work and a collection. */
function keptMb<T>(work: () => T): { readonly mb: number; readonly result: T } {
  collect()
  const before = process.memoryUsage().heapUsed
  const result = work()
  collect()
  return { mb: (process.memoryUsage().heapUsed - before) / 2 ** 20, result }
}

const TURNS = 200_000
const AT_ONCE = 50
const LEASE_MS = 120_000

describe('the memory of the in-process store', () => {
  it('holds nothing of leases that were given back, long before they would have ended', () => {
    const { mb, result: leases } = keptMb(() => {
      const made = createLeases()
      for (let turn = 0; turn < TURNS; turn++) {
        made.add(`call_${turn}`, turn, turn + LEASE_MS, 5)
        if (turn >= AT_ONCE) made.remove(`call_${turn - AT_ONCE}`, 5)
        if (turn % 1000 === 0) made.count(turn)
      }
      return made
    })
    expect(leases.count(TURNS)).toBe(AT_ONCE)
    expect(leases.total(TURNS)).toBe(5 * AT_ONCE)
    expect(mb).toBeLessThan(3)
  })

  it('forgets leases in their turn, however many came and went meanwhile', () => {
    const leases = createLeases()
    for (let turn = 0; turn < 2000; turn++) {
      leases.add(`long_${turn}`, turn, turn + 10_000)
      for (let other = 0; other < 3; other++) leases.add(`short_${turn}_${other}`, turn, turn + 10_000)
      for (let other = 0; other < 3; other++) leases.remove(`short_${turn}_${other}`)
    }
    for (let turn = 0; turn < 2000; turn += 7) expect(leases.count(10_000 + turn)).toBe(1999 - turn)
  })

  it.each([undefined, 100])('holds nothing of entries that were taken out of a map of at most %s', (capacity) => {
    const { mb, result: map } = keptMb(() => {
      const made = expiringMap<number>(() => 0, capacity)
      for (let turn = 0; turn < TURNS; turn++) {
        made.set(`key_${turn}`, turn, 1000)
        if (turn >= AT_ONCE) made.delete(`key_${turn - AT_ONCE}`)
      }
      return made
    })
    expect(map.size).toBe(AT_ONCE)
    expect(mb).toBeLessThan(3)
  })
})
