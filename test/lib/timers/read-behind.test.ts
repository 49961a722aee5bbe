import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readBehind } from '../../../src/lib/timers/read-behind.ts'
import { separateTimers } from '../../../src/lib/timers/timers.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('readers behind a stream', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('get every item, in order, some milliseconds after it came', () => {
    const read: [string, number][] = []
    const { add } = readBehind<number>(
      [(item) => read.push(['a', item]), (item) => read.push(['b', item])],
      separateTimers,
    )
    for (const item of [1, 2, 3]) add(item)
    expect(read).toEqual([])
    vi.advanceTimersByTime(10)
    expect(read).toEqual(['a', 'b'].flatMap((reader) => [1, 2, 3].map((item) => [reader, item])))
    add(4)
    vi.advanceTimersByTime(10)
    expect(read.slice(6)).toEqual([
      ['a', 4],
      ['b', 4],
    ])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('get many items earlier, with one timer for all of them', () => {
    const read: number[] = []
    const { add } = readBehind<number>([(item) => read.push(item)], separateTimers)
    for (const item of upTo(64 + 3)) {
      add(item)
      expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
    }
    expect(read).toEqual(upTo(64))
    vi.advanceTimersByTime(10)
    expect(read).toEqual(upTo(67))
  })

  it('get what waits when they are to catch up, and what a reader adds afterwards', () => {
    const read: number[] = []
    const { add, catchUp } = readBehind<number>(
      [
        (item) => {
          read.push(item)
          if (item === 1) add(10)
        },
      ],
      separateTimers,
    )
    for (const item of [1, 2, 3]) add(item)
    catchUp()
    expect(read).toEqual([1, 2, 3])
    catchUp()
    catchUp()
    expect(read).toEqual([1, 2, 3, 10])
    vi.advanceTimersByTime(10)
    expect(read).toHaveLength(4)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('get each item at once where there are no timers', () => {
    const read: number[] = []
    const { add } = readBehind<number>([(item) => read.push(item)], undefined)
    for (const item of upTo(5)) {
      add(item)
      expect(read).toEqual(upTo(item + 1))
    }
  })
})
