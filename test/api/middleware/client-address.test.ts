import { expect, it } from 'vitest'
import { clientAddress } from '../../../src/api/middleware/client-address.ts'

it.each([
  [[], '198.51.100.1', '203.0.113.5', '198.51.100.1'],
  [['10.0.0.0/8'], '198.51.100.1', '203.0.113.5', '198.51.100.1'],
  [['10.0.0.0/8'], '10.0.0.1', undefined, '10.0.0.1'],
  [['10.0.0.0/8'], '10.0.0.1', '203.0.113.5', '203.0.113.5'],
  [['10.0.0.0/8'], '10.0.0.1', '192.0.2.66, 203.0.113.5, 10.0.0.2', '203.0.113.5'],
  [['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  [['10.0.0.0/8'], '10.0.0.1', 'forged', 'forged'],
] as const)('with the proxies %j, from %s for %s: the client is %s', (proxies, peer, forwardedFor, client) => {
  expect(clientAddress(proxies)(peer, forwardedFor)).toBe(client)
})
