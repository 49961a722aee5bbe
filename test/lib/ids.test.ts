import { expect, it, vi } from 'vitest'
import { newId, newTimedId } from '../../src/lib/ids.ts'

it('makes ids of one form that never repeat', () => {
  for (const make of [newId, newTimedId]) {
    const ids = Array.from({ length: 20_000 }, () => make('call'))
    expect(ids.filter((id) => !/^call_[0-9a-z]{24}$/.test(id))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
  }
})

it('makes timed ids that sort by the moment of their making', () => {
  vi.useFakeTimers()
  try {
    const moments = [0, 1, 35, 36, 1e12, 1_800_000_000_000, 1_800_000_000_001, 3e12]
    const ids = moments.map((moment) => {
      vi.setSystemTime(moment)
      return newTimedId('call')
    })
    expect(ids.toSorted()).toEqual(ids)
  } finally {
    vi.useRealTimers()
  }
})
