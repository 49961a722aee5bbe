import { describe, expect, it } from 'vitest'
import { jsonLog } from '../../../src/lib/log.ts'
import { cloudflareQueue } from '../../../src/stores/queue/cloudflare.ts'
import { postgresQueue } from '../../../src/stores/queue/postgres.ts'
import type { Queue } from '../../../src/stores/queue/queue.ts'
import { SEND_MS } from '../../../src/stores/queue/send-deadline.ts'
import { noSql } from '../../support/nothing.ts'

const never = () => new Promise<never>(() => {})
const queues: [string, Queue][] = [
  ['of Workers', cloudflareQueue({ sendBatch: never })],
  ['in a database', postgresQueue({ ...noSql, query: never }, { log: jsonLog('silent', () => {}) })],
]

describe('a queue that takes messages and never says so', () => {
  it.concurrent.each(queues)('(%s) holds nobody who sends', async (_, queue) => {
    const startedAt = performance.now()
    await expect(queue.send([{ topic: 't', body: {} }])).rejects.toThrow('accepted nothing')
    expect(performance.now() - startedAt).toBeLessThan(SEND_MS + 2000)
  })
})
