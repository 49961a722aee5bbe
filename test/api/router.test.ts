import { TrieRouter } from 'hono/router/trie-router'
import { describe, expect, it } from 'vitest'
import { KeepingRouter } from '../../src/api/router.ts'

const ROUTES = [
  ['ALL', '/v1/*', 'cross-origin'],
  ['POST', '/v1/chat/completions', 'chat'],
  ['GET', '/v1/models', 'models'],
  ['GET', '/v1/models/:model{.+}', 'model'],
  ['POST', '/v1/models/:model{.+:generate}', 'generate'],
] as const
const PATHS = ['/v1/chat/completions', '/v1/models', '/v1/models/a/b', '/v1/models/a:generate', '/v1', '/', '/v1/none']
const METHODS = ['GET', 'POST', 'PATCH', 'PURGE']

describe('the router', () => {
  const ours = new KeepingRouter<string>()
  const plain = new TrieRouter<string>()
  for (const [method, path, name] of ROUTES) {
    ours.add(method, path, name)
    plain.add(method, path, name)
  }

  it('answers what the router that it asks would answer, the first time and later', () => {
    for (let time = 0; time < 2; time++) {
      for (const method of METHODS) {
        for (const path of PATHS)
          expect(ours.match(method, path), `${method} ${path}`).toEqual(plain.match(method, path))
      }
    }
  })

  it('keeps the answer for a path without parameters, until a route is added', () => {
    const found = ours.match('POST', '/v1/chat/completions')
    expect(ours.match('POST', '/v1/chat/completions')).toBe(found)
    expect(ours.match('GET', '/v1/models/one')).not.toBe(ours.match('GET', '/v1/models/one'))
    ours.add('POST', '/v1/chat/completions', 'another')
    expect(ours.match('POST', '/v1/chat/completions')[0].map(([name]) => name)).toEqual([
      'cross-origin',
      'chat',
      'another',
    ])
  })
})
