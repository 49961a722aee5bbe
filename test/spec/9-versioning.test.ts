import { describe, expect, it } from 'vitest'
import { routes } from '../../src/app.ts'

/** Of models too, but of the administration. */
const isProxy = (path: string) => !path.startsWith('/ui/api/')

/** Where clients of rerank vendors look for it. */
const ALSO_KNOWN_AS = ['/rerank', '/v2/rerank']

const paths = (...tags: string[]) =>
  routes.filter(({ contract }) => tags.includes(contract.tag)).map(({ contract }) => contract.path)

describe('Versioning', () => {
  it('proxy paths carry the prefix `/v1`', () => {
    const proxy = paths('Models').filter(isProxy)
    expect(proxy.length).toBeGreaterThan(2)
    expect(proxy.filter((path) => !path.startsWith('/v1/') && !ALSO_KNOWN_AS.includes(path))).toEqual([])
  })

  it('health and metrics paths carry none', () => {
    for (const path of paths('Health')) expect(path).toMatch(/^\/(health|metrics)\b/)
  })
})
