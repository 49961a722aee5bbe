import { describe, expect, it } from 'vitest'
import { jsonLog } from '../../src/lib/log.ts'
import {
  cloudflareQueue,
  deliver,
  type QueueBatch,
  type QueueBinding,
  type QueueMessage,
} from '../../src/stores/queue/cloudflare.ts'
import type { Handler } from '../../src/stores/queue/queue.ts'
import { queueContract } from './queue.ts'

const silent = jsonLog('silent', () => {})
describe('queue: Cloudflare', () => {
  queueContract(async () => {
    const { binding, batch } = localBinding()
    return {
      queue: cloudflareQueue(binding),
      async handle(handler, until) {
        while (!until()) await deliver({ messages: batch() }, handler, silent)
      },
      close: async () => {},
    }
  })

  it('sends within what one call takes: 100 messages, 256 KB', async () => {
    const { binding, calls } = localBinding()
    const queue = cloudflareQueue(binding)
    await queue.send(Array.from({ length: 250 }, (_, body) => ({ topic: 't', body })))
    await queue.send(Array.from({ length: 7 }, () => ({ topic: 't', body: 'x'.repeat(99_000) })))
    expect(calls.map(({ count }) => count)).toStrictEqual([100, 100, 50, 2, 2, 2, 1])
    expect(Math.max(...calls.map(({ bytes }) => bytes))).toBeLessThan(256_000)
  })

  it('sends nothing when one message cannot be sent, in whichever call it would go', async () => {
    const { binding, calls } = localBinding()
    const messages = Array.from({ length: 150 }, (_, n) => ({ topic: 't', body: n === 149 ? undefined : n }))
    await expect(cloudflareQueue(binding).send(messages)).rejects.toThrow('must be JSON')
    expect(calls).toStrictEqual([])
  })

  it('asks for every failed message on its own, later each time', async () => {
    const asked: string[] = []
    const message = (id: string, attempts: number, body: unknown): QueueMessage => ({
      id,
      attempts,
      body,
      ack: () => asked.push(`${id}: done`),
      retry: (options) => asked.push(`${id}: again in ${options?.delaySeconds} s`),
    })
    await deliver(
      { messages: ['good', 'bad', 'good', 'bad'].map((topic, n) => message(topic, n + 1, { topic })) },
      fragile,
      silent,
    )
    await deliver(
      { messages: [message('stranger', 1, 'not ours'), message('old', 20, { topic: 'bad' })] },
      fragile,
      silent,
    )
    expect(asked.sort()).toStrictEqual([
      'bad: again in 16 s',
      'bad: again in 4 s',
      'good: done',
      'good: done',
      'old: again in 3600 s',
      'stranger: again in 2 s',
    ])
  })
})

// The specifier is a variable, because Node knows no such module.
const workers = 'cloudflare:test'

interface CloudflareTest {
  readonly env: { readonly QUEUE: QueueBinding }
  createExecutionContext(): unknown
  createMessageBatch(
    queue: string,
    messages: readonly (Omit<QueueMessage, 'ack' | 'retry'> & { timestamp: Date })[],
  ): QueueBatch
  getQueueResult(batch: QueueBatch, context: unknown): Promise<unknown>
}

if (navigator.userAgent === 'Cloudflare-Workers') {
  describe('queue: the binding of Workers', async () => {
    const { env, createExecutionContext, createMessageBatch, getQueueResult }: CloudflareTest = await import(
      /* @vite-ignore */ workers
    )

    it('accepts what the queue sends', async () => {
      const bodies = [...Array.from({ length: 150 }, (_, n) => n), 'x'.repeat(99_000), { a: ['\0', '\ud800'] }]
      const messages = bodies.map((body) => ({ topic: 'test', body }))
      // Too late for the consumer to see it within the test.
      const sent = cloudflareQueue(env.QUEUE).send(messages, { delaySeconds: 43_200 })
      await expect(sent).resolves.toBeUndefined()
    })

    it('is told about every message on its own', async () => {
      const topics = ['good', 'bad', 'good', 'bad']
      const messages = topics.map((topic, n) => ({ id: `m${n}`, timestamp: new Date(), attempts: 1, body: { topic } }))
      const batch = createMessageBatch('gateway-work', messages)
      const context = createExecutionContext()
      await deliver(batch, fragile, silent)
      expect(await getQueueResult(batch, context)).toMatchObject({
        outcome: 'ok',
        ackAll: false,
        retryBatch: { retry: false },
        explicitAcks: ['m0', 'm2'],
        retryMessages: [{ msgId: 'm1' }, { msgId: 'm3' }],
      })
    })
  })
}

const fragile: Handler = async ({ topic }) => {
  if (topic !== 'good') throw new Error('no')
}

/** The binding's shape in memory: what was sent is JSON, and what is retried comes back at once. */
function localBinding() {
  const kept = new Map<string, { json: string; attempts: number }>()
  const calls: { count: number; bytes: number }[] = []
  let sent = 0
  const binding: QueueBinding = {
    async sendBatch(messages) {
      const texts = Array.from(messages, ({ body }) => JSON.stringify(body))
      calls.push({ count: texts.length, bytes: new TextEncoder().encode(texts.join('')).length })
      for (const json of texts) kept.set(`message ${++sent}`, { json, attempts: 0 })
    },
  }
  const batch = (): QueueMessage[] =>
    Array.from(kept, ([id, entry]) => {
      entry.attempts += 1
      return {
        id,
        attempts: entry.attempts,
        body: JSON.parse(entry.json),
        ack: () => kept.delete(id),
        retry: () => {},
      }
    })
  return { binding, calls, batch }
}
