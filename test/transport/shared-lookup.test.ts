import { expect, it, vi } from 'vitest'
import { nodeTransport } from '../../src/transport/node-transport.node.ts'

const lookups = vi.hoisted(() => [] as ((error: Error) => void)[])
vi.mock('node:dns', () => ({
  lookup: (_name: string, _options: unknown, told: (error: Error) => void) => void lookups.push(told),
}))

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
