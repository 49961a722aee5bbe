import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DeliveredMessage, Handler, Queue } from '../../src/stores/queue/queue.ts'

/** One queue under test. */
export interface QueueUnderTest {
  readonly queue: Queue
  /** Hands what is due to the handler until `until` says that it was enough; failed messages come back without delay. */
  handle(handler: Handler, until: () => boolean): Promise<void>
  close(): Promise<void>
}

/** What every queue promises, from sending to the handler. */
export function queueContract(open: () => Promise<QueueUnderTest>): void {
  let test: QueueUnderTest
  beforeAll(async () => {
    test = await open()
  })
  afterAll(() => test.close())

  describe('a message', () => {
    it('arrives with its topic and its body as they were sent', async () => {
      const bodies = [{ a: [1, null, 'é😀"\\'], b: {} }, 'nul \0, lone \ud800', 0.1, false, null, []]
      await test.queue.send(bodies.map((body, n) => ({ topic: `topic ${n}`, body })))
      const seen = await firstDeliveries(bodies.length)
      const byTopic = seen.sort((a, b) => a.topic.localeCompare(b.topic))
      expect(byTopic.map(({ topic, body }) => [topic, body])).toStrictEqual(
        bodies.map((body, n) => [`topic ${n}`, JSON.parse(JSON.stringify(body))]),
      )
      expect(seen.map(({ attempt }) => attempt)).toStrictEqual(bodies.map(() => 1))
      expect(new Set(seen.map(({ id }) => id)).size).toBe(bodies.length)
    })

    it('that fails comes back under its id, and does not repeat its neighbours', async () => {
      await test.queue.send(['a', 'b', 'c'].map((body) => ({ topic: 'fragile', body })))
      const seen: DeliveredMessage[] = []
      const handled: string[] = []
      await test.handle(
        async (delivery) => {
          seen.push(delivery)
          if (delivery.body === 'b' && delivery.attempt < 3) throw new Error('not yet')
          handled.push(String(delivery.body))
        },
        () => handled.length === 3,
      )
      expect(handled.sort()).toStrictEqual(['a', 'b', 'c'])
      const ofB = seen.filter(({ body }) => body === 'b')
      expect(ofB.map(({ attempt }) => attempt)).toStrictEqual([1, 2, 3])
      expect(new Set(ofB.map(({ id }) => id)).size).toBe(1)
      expect(seen).toHaveLength(5)
    })

    it('may be large, and many may be sent at once', async () => {
      const filler = 'x'.repeat(99_000)
      await test.queue.send(Array.from({ length: 7 }, (_, n) => ({ topic: 'large', body: { n, filler } })))
      await test.queue.send(Array.from({ length: 250 }, (_, n) => ({ topic: 'many', body: n })))
      const seen = await firstDeliveries(257)
      expect(new Set(seen.filter(({ topic }) => topic === 'many').map(({ body }) => body)).size).toBe(250)
      expect(seen.filter(({ topic }) => topic === 'large').map(({ body }) => body)).toContainEqual({ n: 6, filler })
    })
  })

  it.each<[string, unknown, RegExp]>([
    ['too large', 'é'.repeat(60_000), /at most 102400 bytes/],
    ['nothing', undefined, /must be JSON/],
  ])('a body that is %s is refused, and so are its neighbours', async (_, body, message) => {
    const sent = test.queue.send([
      { topic: 'neighbour', body: 1 },
      { topic: 'refused', body },
    ])
    await expect(sent).rejects.toThrow(message)
    await test.queue.send([{ topic: 'after', body: 1 }])
    expect((await firstDeliveries(1)).map(({ topic }) => topic)).toStrictEqual(['after'])
  })

  it('takes no messages, and does nothing', async () => {
    await expect(test.queue.send([])).resolves.toBeUndefined()
  })

  async function firstDeliveries(count: number): Promise<DeliveredMessage[]> {
    const seen: DeliveredMessage[] = []
    await test.handle(
      async (delivery) => {
        seen.push(delivery)
      },
      () => seen.length >= count,
    )
    return seen
  }
}
