import { describe, expect, it } from 'vitest'
import { expiringMap } from '../../../../src/stores/kv/in-process/expiring-map.ts'
import { createLeases } from '../../../../src/stores/kv/in-process/leases.ts'
import { testClock } from '../../../support/clock.ts'
import { seededRandom } from '../../../support/random.ts'

describe('a map that forgets', () => {
  it('stays small under a flood of keys that nobody asks for again', () => {
    const clock = testClock()
    const map = expiringMap<number>(clock.now)
    let most = 0
    for (let at = 0; at < 200_000; at++) {
      map.set(`key-${at}`, at, clock.now() + 1000)
      clock.advance(1)
      most = Math.max(most, map.size)
    }
    expect(most).toBeLessThan(3000)
  })

  it('drops the oldest beyond its capacity', () => {
    const map = expiringMap<number>(testClock().now, 2)
    for (const [at, key] of ['a', 'b', 'c'].entries()) map.set(key, at, Number.POSITIVE_INFINITY)
    expect([map.get('a'), map.get('b'), map.get('c'), map.size]).toEqual([undefined, 1, 2, 2])
  })

  it('returns nothing from the moment that it expires, and starts anew when it is set again', () => {
    const clock = testClock()
    const map = expiringMap<string>(clock.now)
    map.set('a', 'old', clock.now() + 10)
    clock.advance(9)
    expect(map.get('a')).toBe('old')
    clock.advance(1)
    expect(map.get('a')).toBeUndefined()
    map.set('a', 'new', clock.now() + 10)
    expect([map.get('a'), map.size]).toEqual(['new', 1])
    map.delete('a')
    expect(map.get('a')).toBeUndefined()
  })
})

describe('leases', () => {
  it('are counted and summed as a plain list would be, whatever their lengths', () => {
    const random = seededRandom(7)
    const leases = createLeases()
    const plain = new Map<string, { amount: number; end: number }>()
    let now = 0
    for (let step = 0; step < 5000; step++) {
      const [id, amount, end] = [`lease-${random.integer(1, 40)}`, random.integer(0, 2), now + random.integer(1, 50)]
      const name = `${id}|${amount}`
      const held = plain.get(name)
      const dice = random.integer(1, 4)
      if (dice === 1) {
        leases.remove(id, amount)
        plain.delete(name)
      } else if (dice === 2) {
        leases.renew(id, now, end, amount)
        if (held && held.end > now) plain.set(name, { amount, end: Math.max(held.end, end) })
      } else {
        leases.add(id, now, end, amount)
        plain.set(name, { amount, end })
      }
      now += random.integer(0, 3)
      const live = [...plain.values()].filter((lease) => lease.end > now)
      expect(leases.count(now)).toBe(live.length)
      expect(leases.total(now)).toBe(live.reduce((sum, lease) => sum + lease.amount, 0))
      expect(leases.has(id, now, amount)).toBe((plain.get(name)?.end ?? 0) > now)
    }
  })
})
