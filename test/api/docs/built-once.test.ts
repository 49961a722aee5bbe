import { describe, expect, it } from 'vitest'
import { builtOnce } from '../../../src/api/docs/built-once.ts'
import { documentation } from '../../../src/api/docs/index.ts'
import type { Scope } from '../../../src/api/scope.ts'
import { routes } from '../../../src/app.ts'

describe('a document', () => {
  it('is written at its first request and never again', () => {
    let written = 0
    const document = builtOnce('text/plain', () => `text ${++written}`)
    expect(written, 'a start pays nothing for it').toBe(0)
    const [first, second] = [document(undefined), document(undefined)]
    expect(written).toBe(1)
    expect(second.body).toBe(first.body)
    expect(first).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain', 'cache-control': 'no-cache' } })
  })

  it('is not sent to whoever has it', () => {
    const document = builtOnce('text/plain', () => 'text')
    const { etag = '' } = document(undefined).headers
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
    for (const held of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      expect(document(held), held).toEqual({
        status: 304,
        headers: { etag, 'cache-control': 'no-cache' },
        body: new Uint8Array(),
      })
    }
    for (const other of ['"other"', etag.slice(1, -1), '']) expect(document(other).status, other).toBe(200)
  })

  it('differs in its tag where it differs', () => {
    const tags = ['one', 'two'].map((text) => builtOnce('text/plain', () => text)(undefined).headers.etag)
    expect(tags[0]).not.toBe(tags[1])
  })

  it.each(documentation(routes).map((route) => [route.contract.path, route] as const))(
    '%s is the same bytes at each request',
    async (_, { handler }) => {
      const scope = { header: () => undefined } as unknown as Scope<never>
      const answers = await Promise.all([handler(scope), handler(scope)])
      expect(answers[0].body).toBe(answers[1].body)
    },
  )
})
