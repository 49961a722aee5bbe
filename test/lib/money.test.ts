import { expect, it } from 'vitest'
import { NANO, nanoOf } from '../../src/lib/money.ts'
import { seededRandom } from '../support/random.ts'

/** What it means, without its short cut. */
const plainly = (dollars: number) =>
  Math.min(Math.round(Number((dollars * NANO).toPrecision(15))), Number.MAX_SAFE_INTEGER)

it('prices are counted in whole nano-dollars, halves as they were written', () => {
  expect([0, 1e-9, 0.0000000005, 0.0000000015, 0.1 + 0.2, 1e30].map(nanoOf)).toEqual([
    0,
    1,
    1,
    2,
    300_000_000,
    Number.MAX_SAFE_INTEGER,
  ])
  const random = seededRandom(7)
  // A matcher for each of so many numbers would take a hundred times as long as counting them.
  const wrong: number[] = []
  const compare = (dollars: number) => nanoOf(dollars) === plainly(dollars) || wrong.push(dollars)
  for (let at = 0; at < 200_000; at++) {
    const tokens = random.integer(0, 10 ** random.integer(0, 9))
    const price = random.integer(0, 100_000) / 10 ** random.integer(4, 12)
    compare(tokens * price)
    compare((random.integer(0, 10 ** random.integer(0, 6)) + 0.5) / NANO)
  }
  expect(wrong).toEqual([])
})
