import { expect, it } from 'vitest'
import { gate } from '../../../src/pipeline/tools/gate.ts'

it('a gate lets so many through at once, in order, and the next one after a failure too', async () => {
  const pass = gate(2)
  const begun: number[] = []
  const ends: PromiseWithResolvers<number>[] = []
  const works = Array.from({ length: 4 }, (_, at) => {
    const end = Promise.withResolvers<number>()
    ends.push(end)
    return pass(() => {
      begun.push(at)
      return end.promise
    })
  })
  const settled = Promise.allSettled(works)
  expect(begun).toEqual([0, 1])
  ends[1]?.reject(new Error('broken'))
  await expect(works[1]).rejects.toThrow('broken')
  await expect.poll(() => begun).toEqual([0, 1, 2])
  for (const [at, { resolve }] of ends.entries()) resolve(at)
  expect((await settled).map((one) => (one.status === 'fulfilled' ? one.value : 'broken'))).toEqual([0, 'broken', 2, 3])
  expect(begun).toEqual([0, 1, 2, 3])
})
