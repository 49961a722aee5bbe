import { describe, expect, it } from 'vitest'
import { redisAddress } from '../../../../src/stores/kv/tcp/redis-address.ts'

describe('the address of a Redis', () => {
  it.each([
    ['redis://far.test', { host: 'far.test', port: 6379, isSecure: false, greeting: [] }],
    ['rediss://far.test:7000/', { host: 'far.test', port: 7000, isSecure: true, greeting: [] }],
    ['redis://[::1]:7000/0', { host: '::1', port: 7000, isSecure: false, greeting: [] }],
    [
      'redis://:p%40ss@far.test/3',
      {
        host: 'far.test',
        port: 6379,
        isSecure: false,
        greeting: [
          ['AUTH', 'p@ss'],
          ['SELECT', '3'],
        ],
      },
    ],
    [
      'rediss://m%C3%A4x:p%3Ass@far.test',
      { host: 'far.test', port: 6379, isSecure: true, greeting: [['AUTH', 'mäx', 'p:ss']] },
    ],
    ['redis://max@far.test', { host: 'far.test', port: 6379, isSecure: false, greeting: [['AUTH', 'max', '']] }],
  ])('is read from %s', (url, address) => {
    expect(redisAddress(url)).toEqual(address)
  })

  it.each(['https://far.test', 'redis://far.test/one', 'far.test'])('is not read from %s', (url) => {
    expect(() => redisAddress(url)).toThrow(TypeError)
  })
})
