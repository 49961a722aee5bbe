import { describe, expect, it } from 'vitest'
import { routes } from '../../src/app.ts'

/** Of models too, but of the administration. */
const isProxy = (path: string) => !path.startsWith('/ui/api/')

const paths = (...tags: string[]) =>
  routes.filter(({ contract }) => tags.includes(contract.tag)).map(({ contract }) => contract.path)

describe('Versioning', () => {
  it('proxy paths carry the prefix `/v1`; those of a vendor that its clients call at another version, that', () => {
    const proxy = paths('Models').filter(isProxy)
    expect(proxy.length).toBeGreaterThan(2)
    // Clients of Gemini and Cohere put other versions before their paths.
    const others = proxy.filter((path) => !path.startsWith('/v1/'))
    expect(others.filter((path) => !path.startsWith('/v1beta/models'))).toEqual(['/v2/chat', '/v2/embed'])
  })

  it('health and metrics paths carry none', () => {
    for (const path of paths('Health')) expect(path).toMatch(/^\/(health|metrics)\b/)
  })
})
