import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { paced } from '../../src/lib/paced.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

function world() {
  let made = 0
  let held: PromiseWithResolvers<void> | undefined
  const owner = {}
  const ask = paced(async (_: object) => {
    const number = ++made
    await held?.promise
    return number
  })
  return {
    ask: (whose: object = owner) => ask(whose),
    made: () => made,
    hold() {
      const holding = Promise.withResolvers<void>()
      held = holding
      return () => {
        if (held === holding) held = undefined
        holding.resolve()
      }
    },
  }
}

describe('what is paced', () => {
  it('is made anew for each of a few, then no more than ten times a second', async () => {
    const { ask, made } = world()
    for (let count = 1; count <= 10; count++) expect(await ask()).toBe(count)
    const asked: Promise<number>[] = []
    for (let ms = 0; ms < 10_000; ms += 10) {
      asked.push(ask())
      await vi.advanceTimersByTimeAsync(10)
    }
    await vi.advanceTimersByTimeAsync(100)
    expect((await Promise.all(asked)).length).toBe(1000)
    expect(made()).toBeGreaterThanOrEqual(108)
    expect(made()).toBeLessThanOrEqual(112)
  })

  it('is never older than who asked: who asks while one is made gets the next, all of them the same', async () => {
    const { ask, made, hold } = world()
    const release = hold()
    const running = ask()
    const later = Array.from({ length: 64 }, () => ask())
    expect(made()).toBe(1)
    release()
    expect(await running).toBe(1)
    expect(new Set(await Promise.all(later))).toEqual(new Set([2]))
    expect(made()).toBe(2)
  })

  it('is waited for at most a tenth of a second where there were too many', async () => {
    const { ask } = world()
    for (let count = 0; count < 10; count++) await ask()
    const waiting = ask()
    await vi.advanceTimersByTimeAsync(100)
    expect(await waiting).toBe(11)
  })

  it('is begun again where what was begun never ends', async () => {
    const { ask, hold } = world()
    hold()
    void ask()
    const second = ask()
    hold()()
    await vi.advanceTimersByTimeAsync(3000)
    expect(await second).toBe(2)
  })

  it('is made again after a failure, which those hear who waited for it', async () => {
    let fails = true
    const ask = paced(async (_: object) => {
      if (fails) throw new Error('away')
      return 'made'
    })
    const owner = {}
    await expect(ask(owner)).rejects.toThrow('away')
    fails = false
    expect(await ask(owner)).toBe('made')
  })

  it('is each owner’s own', async () => {
    const { ask, made } = world()
    for (let count = 0; count < 10; count++) await ask()
    await ask({})
    expect(made()).toBe(11)
  })
})
