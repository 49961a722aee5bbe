import { describe, expect, it } from 'vitest'
import { lazily } from '../../src/lib/lazily.ts'

describe('lazily', () => {
  it('makes a thing when it is first asked for, and once, also one that is nothing', () => {
    const made: string[] = []
    const thing = lazily(() => void made.push('made'))
    expect(made).toEqual([])
    thing()
    thing()
    expect(made).toEqual(['made'])
  })

  it('tries again after a failure', () => {
    let tries = 0
    const thing = lazily(() => {
      if (tries++ === 0) throw new Error('not yet')
      return tries
    })
    expect(thing).toThrow('not yet')
    expect(thing()).toBe(2)
    expect(thing()).toBe(2)
  })
})
