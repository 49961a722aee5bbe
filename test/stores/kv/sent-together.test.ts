import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { RedisRefusal } from '../../../src/stores/kv/redis-store.ts'
import { sentTogether } from '../../../src/stores/kv/sent-together.ts'
import { StoreUnavailable } from '../../../src/stores/kv/store-unavailable.ts'

/** A far end whose answers come when the test says so. */
function farEnd() {
  const requests: { readonly commands: readonly string[]; answer(): void; fail(): void }[] = []
  const asked = <T>(commands: readonly string[], reply: () => T) => {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const fail = () => reject(new StoreUnavailable('unreachable'))
    requests.push({ commands, answer: () => resolve(reply()), fail })
    return promise
  }
  const replyTo = (name: string) => (name.startsWith('refused') ? new RedisRefusal('NOSCRIPT no') : `did ${name}`)
  const send = sentTogether(
    ([name = '']) => asked([name], () => `did ${name}`),
    (commands) => {
      const names = commands.map(([name = '']) => name)
      return asked(names, () => names.map(replyTo))
    },
  )
  return { send: (name: string) => send([name]), requests, sent: () => requests.map(({ commands }) => commands) }
}

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

describe('commands that go together', () => {
  it('are sent at once while nothing is under way', async () => {
    const { send, requests, sent } = farEnd()
    const first = send('a')
    expect(sent()).toEqual([['a']])
    requests[0]?.answer()
    expect(await first).toBe('did a')
    const second = send('b')
    expect(sent()).toEqual([['a'], ['b']])
    requests[1]?.answer()
    expect(await second).toBe('did b')
  })

  it('wait while one is under way, and each gets its own reply', async () => {
    const { send, requests, sent } = farEnd()
    const all = ['a', 'b', 'refused', 'c'].map((name) => send(name).catch((error) => error))
    expect(sent()).toEqual([['a']])
    requests[0]?.answer()
    await settled()
    const late = send('d')
    expect(sent()).toEqual([['a'], ['b', 'refused', 'c']])
    requests[1]?.answer()
    expect(await Promise.all(all)).toEqual(['did a', 'did b', expect.any(RedisRefusal), 'did c'])
    await settled()
    expect(sent()[2]).toEqual(['d'])
    requests[2]?.answer()
    expect(await late).toBe('did d')
  })

  it('are sent one by one when the request that had them failed', async () => {
    const { send, requests, sent } = farEnd()
    const all = ['a', 'b', 'c', 'd'].map((name) => send(name).catch((error) => error))
    requests[0]?.fail()
    await settled()
    requests[1]?.fail()
    await settled()
    expect(sent()).toEqual([['a'], ['b', 'c', 'd'], ['c'], ['d']])
    for (const request of requests) request.answer()
    const lost = expect.any(StoreUnavailable)
    expect(await Promise.all(all)).toEqual([lost, lost, 'did c', 'did d'])
  })

  it('wait for nobody who is gone', async () => {
    const { send, requests, sent } = farEnd()
    void send('gone')
    const startedAt = performance.now()
    const second = send('a')
    await expect.poll(sent, { interval: 10 }).toEqual([['gone'], ['a']])
    expect(performance.now() - startedAt).toBeGreaterThan(400)
    requests[1]?.answer()
    expect(await second).toBe('did a')
    // Who had waited has taken over.
    const third = send('b')
    expect(sent()[2]).toEqual(['b'])
    requests[2]?.answer()
    expect(await third).toBe('did b')
  })

  it('wait for nobody who has been gone for long', async () => {
    const { send, sent } = farEnd()
    void send('gone')
    await wait(510)
    void send('a')
    expect(sent()).toEqual([['gone'], ['a']])
  })

  it('are no more than fifty', async () => {
    const { send, requests, sent } = farEnd()
    const all = Array.from({ length: 121 }, (_, index) => send(String(index)))
    for (let turn = 0; turn < 4; turn++) {
      requests[turn]?.answer()
      await settled()
    }
    expect(sent().map(({ length }) => length)).toEqual([1, 50, 50, 20])
    expect(await Promise.all(all)).toEqual(Array.from({ length: 121 }, (_, index) => `did ${index}`))
  })
})
