import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Link, ring } from '../../src/lib/ring.ts'

interface Named extends Link {
  readonly name: number
}

const named = (name: number): Named => ({ name, before: undefined, after: undefined })

describe('a ring', () => {
  it('holds what a set of the same steps holds, in its order', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ name: fc.nat(9), adds: fc.boolean() })), (steps) => {
        const items = Array.from({ length: 10 }, (_, name) => named(name))
        const set = new Set<number>()
        const list = ring<Named>()
        for (const { name, adds } of steps) {
          const item = items[name] as Named
          if (!adds) expect(list.remove(item)).toBe(set.delete(name))
          else if (!set.has(name)) {
            set.add(name)
            list.add(item)
          }
        }
        expect(list.all().map(({ name }) => name)).toEqual([...set])
        expect(list.first()?.name).toBe([...set][0])
      }),
    )
  })

  it('lets go of what has left', () => {
    const list = ring<Named>()
    const [one, two] = [named(1), named(2)]
    list.add(one)
    list.add(two)
    list.remove(one)
    expect([one.before, one.after]).toEqual([undefined, undefined])
    expect(list.remove(one)).toBe(false)
    expect(list.all()).toEqual([two])
  })
})
