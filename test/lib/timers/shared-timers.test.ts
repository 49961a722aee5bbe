import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sharedTimers } from '../../../src/lib/timers/shared-timers.node.ts'

describe('timers that share one', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([0, 1, 249, 250, 257, 300, 1999, 40_000, 599_999.3, 2 ** 31 + 5000])(
    'go off after %d ms, not before',
    (ms) => {
      const timers = sharedTimers()
      const begunAt = performance.now()
      let at: number | undefined
      timers.after(ms, () => {
        at = performance.now() - begunAt
      })
      vi.advanceTimersByTime(Math.max(0, Math.floor(ms) - 1))
      expect(at).toBeUndefined()
      vi.advanceTimersByTime(100)
      expect(at).toBeGreaterThanOrEqual(ms)
      expect(at).toBeLessThan(ms + 3)
    },
  )

  it('go off in their order, each once, without those that were stopped', () => {
    const timers = sharedTimers()
    const gone: string[] = []
    const start = (name: string, ms: number) => timers.after(ms, () => void gone.push(name))
    start('late', 40_000)
    const stopped = start('stopped', 600)
    start('soon', 700)
    vi.advanceTimersByTime(500)
    start('sooner', 100)
    timers.stop(stopped)
    timers.stop(stopped)
    start('between', 30_000)
    vi.advanceTimersByTime(120_000)
    expect(gone).toEqual(['sooner', 'soon', 'between', 'late'])
  })

  it('start anew from one that goes off', () => {
    const timers = sharedTimers()
    let turns = 0
    const again = () => {
      turns += 1
      timers.after(1000, again)
    }
    timers.after(1000, again)
    vi.advanceTimersByTime(10_050)
    expect(turns).toBe(10)
  })

  it('start anew without holding up others of their delay', () => {
    const timers = sharedTimers()
    const begunAt = performance.now()
    let at: number | undefined
    const again = () => void timers.after(1024, again)
    again()
    vi.advanceTimersByTime(100)
    timers.after(1024, () => {
      at = performance.now() - begunAt
    })
    vi.advanceTimersByTime(5000)
    expect(at).toBeGreaterThanOrEqual(1124)
    expect(at).toBeLessThan(1127)
  })

  it('need one of the platform for as many as are started', () => {
    const timers = sharedTimers()
    for (let count = 0; count < 1000; count++) timers.stop(timers.after(600_000 - count / 1000, () => {}))
    // One that were started for each would have been stopped with it.
    expect(vi.getTimerCount()).toBe(1)
  })

  it('do not keep others from going off by what one throws', () => {
    const timers = sharedTimers()
    let gone = false
    timers.after(1000, () => {
      throw new Error('mine')
    })
    timers.after(1000, () => {
      gone = true
    })
    expect(() => vi.advanceTimersByTime(2000)).toThrow('mine')
    vi.advanceTimersByTime(2000)
    expect(gone).toBe(true)
  })
})
