import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recentIds } from '../../../../src/stores/kv/in-process/recent-ids.ts'

describe('recent ids', () => {
  it('are known for as long as they live, and then no more', () => {
    const step = fc.record({ id: fc.nat(4), wait: fc.nat(150) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const ids = recentIds(1000, 100)
        const until = new Map<number, number>()
        let now = 1_000_000_000_000
        for (const { id, wait } of steps) {
          now += wait
          const isNew = (until.get(id) ?? 0) <= now
          if (isNew) until.set(id, now + 100)
          expect(ids.add(`call-${id}`, now)).toBe(isNew)
        }
      }),
    )
  })

  it('are known among the newest half of the most, however fast they come', () => {
    const ids = recentIds(100, 1000)
    for (let at = 0; at < 1000; at++) {
      expect(ids.add(`call-${at}`, 0)).toBe(true)
      expect(ids.add(`call-${Math.max(0, at - 49)}`, 0)).toBe(false)
    }
    expect(ids.add('call-0', 0)).toBe(true)
  })

  it('are told apart, however alike they are', () => {
    const ids = recentIds(400_000, 1000)
    for (const prefix of ['call-', 'call_0mabc1def', '🦊']) {
      for (let at = 0; at < 50_000; at++) expect(ids.add(`${prefix}${at}`, 0)).toBe(true)
    }
    for (let at = 0; at < 50_000; at += 7) expect(ids.add(`call-${at}`, 0)).toBe(false)
  })

  it('are known after the clock was set back by a month', () => {
    const ids = recentIds(100, 1000)
    const [now, month] = [1_770_000_000_000, 30 * 24 * 3_600_000]
    expect([ids.add('late', now), ids.add('early', now - month)]).toEqual([true, true])
    expect([ids.add('late', now - month), ids.add('early', now - month)]).toEqual([false, false])
  })
})
