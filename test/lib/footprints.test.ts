import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { footprints } from '../../src/lib/footprints.ts'

const step = fc.record({ request: fc.nat(5), bytes: fc.nat(60), releases: fc.boolean() })

describe('footprints', () => {
  it('are what the requests that were let in take, each owner within its bound and all within theirs', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const bounds = { total: 150, owner: 100 }
        const kept = footprints(bounds, () => 0)
        const requests = Array.from({ length: 6 }, (_, at) => ({
          owner: `owner-${at % 2}`,
          footprint: kept.open(`owner-${at % 2}`),
          bytes: 0,
          released: false,
        }))
        const sum = (of: typeof requests) => of.reduce((all, { bytes }) => all + bytes, 0)
        for (const { request, bytes, releases } of steps) {
          const one = requests[request] as (typeof requests)[number]
          const owned = sum(requests.filter(({ owner }) => owner === one.owner))
          const ownerFits = owned === one.bytes || owned + bytes <= bounds.owner
          const fits = ownerFits && (sum(requests) === one.bytes || sum(requests) + bytes <= bounds.total)
          if (releases) {
            one.footprint.release()
            one.bytes = 0
            one.released = true
          } else if (fits || one.released || bytes === 0) {
            one.footprint.add(bytes)
            if (!one.released) one.bytes += bytes
          } else expect(() => one.footprint.add(bytes)).toThrow(/memory/)
          expect(kept.total).toBe(sum(requests))
        }
      }),
    )
  })

  it('are forgotten where the end of a request was never heard, and only there', () => {
    let now = 0
    const kept = footprints({ total: 100, owner: 100 }, () => now)
    kept.open('lost').add(60)
    now = 600_000
    kept.open('running').add(30)
    now = 901_000
    kept.open('new').add(50)
    expect(kept.total).toBe(80)
  })

  it('count for an owner again who has taken nothing while many others came and went', () => {
    const kept = footprints({ total: 1000, owner: 100 }, () => 0)
    const [first, second] = [kept.open('one'), kept.open('one')]
    first.add(60)
    for (let at = 0; at < 5000; at++) {
      const other = kept.open(`other-${at}`)
      other.add(1)
      other.release()
    }
    expect(() => second.add(60)).toThrow(/memory/)
    first.release()
    second.add(60)
    expect(kept.total).toBe(60)
  })
})
