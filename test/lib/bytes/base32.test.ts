import { expect, it } from 'vitest'
import { fromBase32, toBase32 } from '../../../src/lib/bytes/base32.ts'

it('writes base32 as RFC 4648 does, without padding, and reads it again', () => {
  // The vectors of RFC 4648, section 10.
  const vectors = {
    '': '',
    f: 'MY',
    fo: 'MZXQ',
    foo: 'MZXW6',
    foob: 'MZXW6YQ',
    fooba: 'MZXW6YTB',
    foobar: 'MZXW6YTBOI',
  }
  for (const [text, written] of Object.entries(vectors)) {
    const bytes = new TextEncoder().encode(text)
    expect(toBase32(bytes)).toBe(written)
    expect([...fromBase32(written)]).toEqual([...bytes])
  }
  const every = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  expect([...fromBase32(toBase32(every))]).toEqual([...every])
})
