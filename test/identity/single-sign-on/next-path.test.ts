import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextPath } from '../../../src/identity/single-sign-on/next-path.ts'

const OWN = 'https://gateway.example'

describe('where a person goes after the login', () => {
  it.each(['/', '/console/keys?page=2#top', '/docs', '/a//b', '/@evil.example', '/%2f%2fevil.example'])(
    'is %s as it was asked',
    (path) => expect(nextPath(path)).toBe(path),
  )

  it.each([
    undefined,
    '',
    'console',
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/x\\y',
    '/\t/evil.example',
    '/x\r\nset-cookie: a=b',
    '/\u0000',
    `/${'x'.repeat(3000)}`,
  ])('is the console instead of %j', (path) => expect(nextPath(path)).toBe('/console'))

  it('is always of this gateway, and fits a header', () => {
    const hostile = fc.array(
      fc.constantFrom('/', '\\', '.', '..', '\t', ' ', 'ü', '\ud800', '@', ':', 'evil.example', '?'),
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          hostile.map((parts) => parts.join('')),
        ),
        (text) => {
          const path = nextPath(`/${text}`)
          expect(new URL(path, OWN).origin).toBe(OWN)
          expect(path).toMatch(/^\/[\x21-\x7e]*$/)
        },
      ),
    )
  })
})
