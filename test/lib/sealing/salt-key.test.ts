import { describe, expect, it } from 'vitest'
import { readSaltKey, successorOf } from '../../../src/lib/sealing/salt-key.ts'
import { sealUnder } from '../../../src/lib/sealing/seal.ts'
import { secret } from '../../../src/lib/secret.ts'

const FIRST = 'salt-of-the-first-0f4d1b7a93'
const second = successorOf(FIRST)
const third = successorOf(second)
const [first, next, last] = [FIRST, second, third].map(secret) as [
  ReturnType<typeof secret>,
  ReturnType<typeof secret>,
  ReturnType<typeof secret>,
]

describe('a salt key that follows another', () => {
  it('hashes as the first one, however many have followed, and seals under bits of its own', () => {
    const read = [FIRST, second, third].map(readSaltKey)
    expect(read.map(({ hashing }) => hashing)).toEqual([FIRST, FIRST, FIRST])
    expect(new Set(read.map(({ sealing }) => sealing)).size).toBe(3)
    expect(read[0]?.mark).toBe('v1')
    expect(read[1]?.mark).toMatch(/^v2-[0-9a-f]{12}$/)
    expect(read[2]?.mark).not.toBe(read[1]?.mark)
    expect(successorOf(FIRST)).not.toBe(second)
  })

  it('travels in a header and a variable, whatever the first one is made of', () => {
    for (const odd of [' !"#$%&\'()*+,-./0123456789', '~'.repeat(200), 'v2.almost.but-not-one']) {
      const made = successorOf(odd)
      expect(made).toMatch(/^[\w.-]+$/)
      expect(readSaltKey(made).hashing).toBe(odd)
    }
  })
})

describe('what is sealed', () => {
  it('is read under both keys while one follows the other, and alone under the new one afterwards', async () => {
    const [before, learning, using, after] = [
      sealUnder(first),
      sealUnder(first, [next]),
      sealUnder(next, [undefined, first]),
      sealUnder(next),
    ]
    const old = await learning.close('a secret', 'here')
    const fresh = await using.close('a secret', 'here')
    for (const seal of [before, learning, using]) expect(await seal.open(old, 'here')).toBe('a secret')
    for (const seal of [learning, using, after]) expect(await seal.open(fresh, 'here')).toBe('a secret')
    await expect(after.open(old, 'here')).rejects.toThrow('not a text that this key has sealed')
    await expect(before.open(fresh, 'here')).rejects.toThrow('not a text that this key has sealed')
    await expect(using.open(fresh, 'there')).rejects.toThrow()
    await expect(sealUnder(last).open(fresh, 'here')).rejects.toThrow()
    // A text that pretends to be of the other key.
    await expect(using.open(fresh.replace(/^[^.]+/, 'v1'), 'here')).rejects.toThrow()
  })
})
