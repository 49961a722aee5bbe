import { expect, it } from 'vitest'
import { atMost } from '../../../src/lib/timers/at-most.ts'

const wait = (ms: number) => new Promise<string>((resolve) => setTimeout(resolve, ms, 'done'))

it('says what came of the work, or that it did not come in time', async () => {
  expect(await atMost(1000, wait(1))).toEqual({ value: 'done' })
  expect(await atMost(1, wait(200))).toBeUndefined()
  await expect(atMost(1000, Promise.reject(new Error('no')))).rejects.toThrow('no')
})

it('waits where a timer cannot count so far', async () => {
  expect(await atMost(2 ** 40, wait(30))).toEqual({ value: 'done' })
})
