import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, it, vi } from 'vitest'
import { nodeTransport } from '../../src/transport/node-transport.node.ts'
import { undiciTransport } from '../../src/transport/undici.node.ts'

type Told = (error: Error | null, addresses?: { address: string; family: number }[]) => void

const lookups = vi.hoisted(() => [] as Told[])
vi.mock('node:dns', () => ({
  lookup: (_name: string, _options: unknown, told: Told) => void lookups.push(told),
}))
beforeEach(() => void lookups.splice(0))

it('a name whose servers are silent is looked up once, however many calls wait for it', async () => {
  const transport = nodeTransport()
  const send = (origin: string) =>
    transport.send({ method: 'POST', origin, path: '/', headers: {}, body: '{}' }, new AbortController().signal)
  const calls = ['http', 'http', 'https'].map((scheme) => send(`${scheme}://silent.internal`))
  const outcomes = Promise.allSettled(calls)
  await expect.poll(() => lookups.length).toBe(1)
  lookups[0]?.(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))
  for (const outcome of await outcomes)
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringMatching(/ failed: ENOTFOUND$/) },
    })
  expect(lookups.length).toBe(1)
  await transport.close()
})

it.each([
  ['own', nodeTransport],
  ['other', undiciTransport],
])(
  'while a process is busy, a connection that begins does not go on to dead addresses: the %s client',
  async (_, made) => {
    const server = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://two-addresses.internal:${(server.address() as AddressInfo).port}`
    const transport = made()
    const request = { method: 'GET', origin, path: '/', headers: {} } as const
    const answered = transport.send(request, new AbortController().signal)
    await expect.poll(() => lookups.length).toBe(1)
    setImmediate(() => {
      lookups[0]?.(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ])
      const until = performance.now() + 400
      while (performance.now() < until);
    })
    expect(Buffer.from(await (await answered).body.bytes(100)).toString()).toBe('here')
    await transport.close()
    server.close()
  },
)
