import { describe, expect, it } from 'vitest'
import { type DiffLine, lineDiff } from '../../../../src/api/ui/prompts/line-diff.ts'
import { seededRandom } from '../../../support/random.ts'

const side = (lines: readonly DiffLine[], left: '-' | '+') =>
  lines.filter(({ op }) => op !== left).map(({ text }) => text)

describe('a comparison of lines', () => {
  it('holds both texts, with as few changes as there can be', () => {
    const random = seededRandom(7)
    const text = () => Array.from({ length: random.integer(0, 7) }, () => random.pick(['a', 'b', 'c', '']))
    for (let turn = 0; turn < 500; turn++) {
      const [before, after] = [text(), text()]
      const lines = lineDiff(before, after)
      expect(side(lines, '+')).toEqual(before)
      expect(side(lines, '-')).toEqual(after)
      expect(lines.filter(({ op }) => op === ' ').length).toBe(mostInCommon(before, after))
    }
  })

  it('of texts that are too long to compare shows the difference as a whole', () => {
    const before = Array.from({ length: 2000 }, (_, line) => `old ${line}`)
    const after = Array.from({ length: 2000 }, (_, line) => `new ${line}`)
    const lines = lineDiff(['same', ...before, 'end'], ['same', ...after, 'end'])
    expect(lines.map(({ op }) => op).join('')).toBe(` ${'-'.repeat(2000)}${'+'.repeat(2000)} `)
  })
})

/** By trying everything. */
function mostInCommon([first, ...before]: readonly string[], after: readonly string[]): number {
  if (first === undefined) return 0
  const at = after.indexOf(first)
  const without = mostInCommon(before, after)
  return at === -1 ? without : Math.max(without, 1 + mostInCommon(before, after.slice(at + 1)))
}
