import { describe, expect, it } from 'vitest'
import { redisAddress } from '../../../../src/stores/kv/tcp/redis-address.ts'

describe('the address of a Redis', () => {
  it.each([
    ['redis://far.test', { host: 'far.test', port: 6379, isSecure: false, files: {}, greeting: [] }],
    ['rediss://far.test:7000/', { host: 'far.test', port: 7000, isSecure: true, files: {}, greeting: [] }],
    ['redis://[::1]:7000/0', { host: '::1', port: 7000, isSecure: false, files: {}, greeting: [] }],
    [
      'redis://:p%40ss@far.test/3',
      {
        host: 'far.test',
        port: 6379,
        isSecure: false,
        files: {},
        greeting: [
          ['AUTH', 'p@ss'],
          ['SELECT', '3'],
        ],
      },
    ],
    [
      'rediss://m%C3%A4x:p%3Ass@far.test',
      { host: 'far.test', port: 6379, isSecure: true, files: {}, greeting: [['AUTH', 'mäx', 'p:ss']] },
    ],
    [
      'rediss://far.test/?sslrootcert=/etc/own%20ca.pem&sslcert=c.pem&sslkey=k.pem&protocol=3',
      {
        host: 'far.test',
        port: 6379,
        isSecure: true,
        files: { sslrootcert: '/etc/own ca.pem', sslcert: 'c.pem', sslkey: 'k.pem' },
        greeting: [],
      },
    ],
    [
      'redis://max@far.test',
      { host: 'far.test', port: 6379, isSecure: false, files: {}, greeting: [['AUTH', 'max', '']] },
    ],
  ])('is read from %s', (url, address) => {
    expect(redisAddress(url)).toEqual(address)
  })

  it.each(['https://far.test', 'redis://far.test/one', 'far.test'])('is not read from %s', (url) => {
    expect(() => redisAddress(url)).toThrow(TypeError)
  })
})
