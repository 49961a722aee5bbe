import { describe, expect, it } from 'vitest'
import { asciiDomain } from '../../src/config/ascii-domain.ts'

describe('a domain', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
    ['a.b-c.example', 'a.b-c.example'],
  ])('%s is compared as %s', (text, compared) => expect(asciiDomain(text)).toBe(compared))

  it.each(['', 'localhost', '-x.example', 'x..example', 'example.com.', 'a b.example', 'x@y.example', 'x.example:80'])(
    '%j is none',
    (text) => expect(asciiDomain(text)).toBeUndefined(),
  )

  it.each(['x.example/y', 'x.example?y', 'x.example#y', 'x.example\\y', '[::1]', 'x%2e.example', 'x\t.example'])(
    '%j is none',
    (text) => expect(asciiDomain(text)).toBeUndefined(),
  )
})
