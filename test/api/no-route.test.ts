import { describe, expect, it } from 'vitest'
import { contractAt, noRoute } from '../../src/api/no-route.ts'
import { defineRoute } from '../../src/api/route.ts'

const route = (method: 'get' | 'post', path: string, more: { aliases?: readonly string[]; open?: true } = {}) =>
  defineRoute({ method, path, summary: '', tag: 'Models', auth: 'caller', responses: {}, ...more }, () => {
    throw new Error('not called')
  })
const routes = [
  route('post', '/v1beta/models/{model}:countTokens', { aliases: ['/gemini/v1beta/models/{model}:countTokens'] }),
  route('get', '/v1/models/{model}', { open: true }),
]

describe('a path that no route takes', () => {
  it.each([
    ['/v1beta/models/m:countTokens', 405],
    ['/v1beta/models/vendor/m:countTokens', 405],
    ['/gemini/v1beta/models/m:countTokens', 405],
    ['/v1/models/vendor/m', 405],
    ['/v1beta/models/m:embed', 404],
    ['/v1beta/models/:countTokens', 404],
    ['/v1beta/models/m', 404],
    ['/v1beta/m:countTokens', 404],
  ])('%s is known by its parameters, its verb and its aliases', (path, status) => {
    expect(noRoute('PUT', path, routes).status).toBe(status)
    expect(contractAt(path, routes) !== undefined).toBe(status === 405)
  })

  it('names the methods that it takes', () => {
    expect(noRoute('PUT', '/v1/models/m', routes).details.headers).toEqual({ allow: 'GET, HEAD' })
    expect(noRoute('PUT', '/v1beta/models/m:countTokens', routes).details.headers).toEqual({ allow: 'POST' })
  })
})
