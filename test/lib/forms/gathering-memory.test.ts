import { describe, expect, it } from 'vitest'
import { gathering, release, releasing } from '../../../src/lib/forms/gathering.node.ts'

const pieces = () => Array.from({ length: 20 }, (_, at) => new Uint8Array(65_536).fill(at))
const kept = (all: readonly Uint8Array[]) => all.filter(({ byteLength }) => byteLength > 0).length

describe('the memory of pieces', () => {
  it('is free once they are joined, but for the last, which its source may still use', () => {
    const all = pieces()
    const gathered = gathering(Number.NaN)
    for (const piece of all) gathered.push(piece)
    const joined = gathered.bytes()
    expect(joined.byteLength).toBe(20 * 65_536)
    expect(joined.at(-1)).toBe(19)
    expect(kept(all)).toBe(1)
  })

  it('is free once they are given up', () => {
    const all = pieces()
    const gathered = gathering(Number.NaN)
    for (const piece of all) gathered.push(piece)
    gathered.discard()
    expect(kept(all)).toBe(1)
  })

  it('is freed once, whoever asks for it again', () => {
    const all = pieces()
    const [one, other] = [releasing(), releasing()]
    for (const piece of all) {
      one(piece)
      other(piece)
    }
    for (const piece of all) release(piece)
    expect(kept(all)).toBe(0)
  })
})
