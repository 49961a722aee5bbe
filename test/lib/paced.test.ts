import { describe, expect, it } from 'vitest'
import { paced } from '../../src/lib/paced.ts'

function world() {
  let made = 0
  let time = 0
  const waiting: PromiseWithResolvers<void>[] = []
  const owner = {}
  const ask = paced(
    async (_: object) => {
      const number = ++made
      await waiting.at(-1)?.promise
      return number
    },
    () => time,
  )
  return {
    ask: (whose: object = owner) => ask(whose),
    made: () => made,
    pass(ms: number) {
      time += ms
    },
    hold() {
      const held = Promise.withResolvers<void>()
      waiting.push(held)
      return held.resolve
    },
  }
}

describe('what is paced', () => {
  it('is made anew for each of a few, then no more than five times a second', async () => {
    const { ask, made, pass } = world()
    expect([await ask(), await ask(), await ask(), await ask(), await ask()]).toEqual([1, 2, 3, 4, 5])
    expect([await ask(), await ask()]).toEqual([5, 5])
    for (let ms = 0; ms < 10_000; ms += 10) {
      pass(10)
      await ask()
    }
    expect(made()).toBeGreaterThanOrEqual(54)
    expect(made()).toBeLessThanOrEqual(56)
  })

  it('is made one at a time; who asks meanwhile gets the last one', async () => {
    const { ask, made, hold, pass } = world()
    await ask()
    const release = hold()
    const running = ask()
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1])
    release()
    expect(await running).toBe(2)
    expect(made()).toBe(2)
    pass(1000)
    expect(await ask()).toBe(3)
  })

  it('is shared by those who ask before there is any', async () => {
    const { ask, made, hold } = world()
    const release = hold()
    const all = Array.from({ length: 64 }, () => ask())
    release()
    expect(new Set(await Promise.all(all))).toEqual(new Set([1]))
    expect(made()).toBe(1)
  })

  it('is begun again where what was begun never ends', async () => {
    const { ask, hold, pass } = world()
    await ask()
    hold()
    void ask()
    pass(2999)
    expect(await ask()).toBe(1)
    pass(1)
    const release = hold()
    const second = ask()
    release()
    expect(await second).toBe(3)
  })

  it('is made again after a failure, which only its own asker hears of', async () => {
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
    for (let count = 0; count < 5; count++) await ask()
    await ask({})
    expect(made()).toBe(6)
  })
})
