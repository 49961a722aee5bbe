import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { jsonLog } from '../../src/lib/log.ts'
import { type ConsumeOptions, type PostgresQueueOptions, postgresQueue } from '../../src/stores/queue/postgres.ts'
import type { DeliveredMessage, Handler } from '../../src/stores/queue/queue.ts'
import { nodePostgresSql } from '../../src/stores/sql/adapters/node-postgres.node.ts'
import { applySchema } from '../../src/stores/sql/schema/apply-schema.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import { preparedEmbeddedSql } from '../support/embedded-database.node.ts'
import { freshDatabase } from '../support/postgres.ts'
import { queueContract } from './queue.ts'

const postgresUrl = inject('postgresUrl')
const silent = jsonLog('silent', () => {})

describe('queue: PGlite', () => {
  postgresQueueContract(() => preparedEmbeddedSql())
})

describe.skipIf(postgresUrl === '')('queue: node-postgres', () => {
  postgresQueueContract(async () => nodePostgresSql({ connectionString: await freshDatabase(postgresUrl) }))
})

function postgresQueueContract(open: () => Promise<Sql>): void {
  let sql: Sql
  beforeAll(async () => {
    sql = await open()
    await applySchema(sql, await readFile(new URL('../../schema.sql', import.meta.url), 'utf8'))
  })
  afterAll(() => sql.close())
  afterEach(async () => {
    await sql.query({ sql: 'DELETE FROM gateway_queue', parameters: [] })
  })

  const queueOf = (options: Partial<PostgresQueueOptions> = {}) =>
    postgresQueue(sql, { log: silent, retryDelay: () => 0, ...options })
  const rows = async () => (await sql.query({ sql: 'SELECT * FROM gateway_queue ORDER BY id', parameters: [] })).rows

  describe('delivers', () => {
    queueContract(async () => {
      const queue = queueOf()
      return {
        queue,
        handle: (handler, until) => consumeUntil(queue, handler, until),
        close: async () => {},
      }
    })
  })

  it('keeps nothing of a message that is done with', async () => {
    const queue = queueOf()
    await queue.send([{ topic: 't', body: 1 }])
    let handled = false
    await consumeUntil(
      queue,
      async () => {
        handled = true
      },
      () => handled,
    )
    expect(await rows()).toStrictEqual([])
  })

  it('wakes at once for what this process sends', async () => {
    const queue = queueOf()
    const seen: number[] = []
    const consumer = running(queue, async () => void seen.push(Date.now()), { pollMs: 60_000 })
    await sleep(100)
    const sentAt = Date.now()
    await queue.send([{ topic: 't', body: 1 }])
    await until(() => seen.length === 1)
    expect(Number(seen[0]) - sentAt).toBeLessThan(15_000)
    await consumer.stop()
  })

  it('holds a delayed message back', async () => {
    const queue = queueOf()
    const seen: number[] = []
    const sentAt = Date.now()
    await queue.send([{ topic: 't', body: 1 }], { delaySeconds: 1 })
    await consumeUntil(
      queue,
      async () => void seen.push(Date.now()),
      () => seen.length === 1,
    )
    expect(Number(seen[0]) - sentAt).toBeGreaterThanOrEqual(990)
  })

  it('gives up after the last attempt, keeps the message with its error, and delivers it no more', async () => {
    const queue = queueOf({ maxAttempts: 3 })
    const attempts: number[] = []
    await queue.send([{ topic: 'hopeless', body: { n: 1 } }])
    const consumer = running(queue, async ({ attempt }) => {
      attempts.push(attempt)
      throw new Error('no \0 \ud800 use')
    })
    await until(async () => (await rows())[0]?.dead_at !== null)
    await sleep(100)
    await consumer.stop()
    expect(attempts).toStrictEqual([1, 2, 3])
    expect(await rows()).toMatchObject([
      { topic: 'hopeless', body: { n: 1 }, attempts: 3, last_error: 'Error: no  � use' },
    ])
  })

  it('waits longer after every failure', async () => {
    const queue = postgresQueue(sql, { log: silent })
    let handled = 0
    await queue.send([{ topic: 't', body: 1 }])
    const fail = async () => {
      handled += 1
      throw new Error('no')
    }
    await consumeUntil(queue, fail, () => handled === 1)
    const waits = 'SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM gateway_queue'
    const { rows: first } = await sql.query<{ seconds: number }>({ sql: waits, parameters: [] })
    expect(first[0]?.seconds).toBeGreaterThan(1)
    expect(first[0]?.seconds).toBeLessThanOrEqual(2)
    await sql.query({ sql: 'UPDATE gateway_queue SET due_at = now(), attempts = 4', parameters: [] })
    await consumeUntil(queue, fail, () => handled === 2)
    const { rows: fifth } = await sql.query<{ seconds: number }>({ sql: waits, parameters: [] })
    expect(fifth[0]?.seconds).toBeGreaterThan(30)
    expect(fifth[0]?.seconds).toBeLessThanOrEqual(32)
  })

  it('delivers again what a dead process had taken, and gives up what keeps killing', async () => {
    const queue = queueOf({ maxAttempts: 2 })
    const lost = "INSERT INTO gateway_queue (topic, body, attempts, due_at) VALUES ($1, '1', $2, now())"
    await sql.query({ sql: lost, parameters: ['taken once', 1] })
    await sql.query({ sql: lost, parameters: ['taken twice', 2] })
    const seen: DeliveredMessage[] = []
    await consumeUntil(
      queue,
      async (delivery) => void seen.push(delivery),
      () => seen.length === 1,
    )
    expect(seen).toMatchObject([{ topic: 'taken once', attempt: 2 }])
    expect(await rows()).toMatchObject([{ topic: 'taken twice', last_error: 'never reported back' }])
    expect((await rows())[0]?.dead_at).not.toBeNull()
  })

  it('keeps a message that is worked on longer than its lease', async () => {
    const queue = queueOf({ leaseSeconds: 0.6 })
    const attempts: number[] = []
    await queue.send([{ topic: 'long', body: 1 }])
    let finished = false
    const slow: Handler = async ({ attempt }) => {
      attempts.push(attempt)
      await sleep(1500)
      finished = true
    }
    await consumeUntil(queue, slow, () => finished)
    expect(attempts).toStrictEqual([1])
    expect(await rows()).toStrictEqual([])
  })

  it('shares the work between consumers, each message once, no more at a time than each was told', async () => {
    const queues = Array.from({ length: 4 }, () => queueOf())
    const seen: unknown[] = []
    let most = 0
    await queues[0]?.send(Array.from({ length: 200 }, (_, body) => ({ topic: 't', body })))
    const consumers = queues.map((queue) => {
      let busy = 0
      const work: Handler = async ({ body }) => {
        busy += 1
        most = Math.max(most, busy)
        await sleep(2)
        busy -= 1
        seen.push(body)
      }
      return running(queue, work, { concurrency: 5 })
    })
    await until(() => seen.length >= 200)
    await Promise.all(consumers.map((consumer) => consumer.stop()))
    expect(seen).toHaveLength(200)
    expect(new Set(seen).size).toBe(200)
    expect(most).toBeLessThanOrEqual(5)
  })

  it('stops by finishing what runs and taking nothing more', async () => {
    const queue = queueOf()
    const events: string[] = []
    await queue.send([{ topic: 'running', body: 1 }])
    const consumer = running(queue, async ({ topic }) => {
      events.push(`${topic} begins`)
      await sleep(200)
      events.push(`${topic} ends`)
    })
    await until(() => events.length === 1)
    const stopped = consumer.stop()
    await queue.send([{ topic: 'late', body: 1 }])
    await stopped
    expect(events).toStrictEqual(['running begins', 'running ends'])
    expect(await rows()).toMatchObject([{ topic: 'late', attempts: 0 }])
  })

  it('goes on when the database fails for a while', async () => {
    let down = true
    const flaky: Sql = {
      ...sql,
      query: (statement) => (down ? Promise.reject(new Error('down')) : sql.query(statement)),
    }
    const queue = postgresQueue(flaky, { log: silent })
    await queueOf().send([{ topic: 't', body: 1 }])
    const seen: DeliveredMessage[] = []
    const consumer = running(queue, async (delivery) => void seen.push(delivery))
    await sleep(60)
    down = false
    await until(() => seen.length === 1)
    await consumer.stop()
  })
}

interface Consumes {
  consume(handler: Handler, options: ConsumeOptions): Promise<void>
}

function running(queue: Consumes, handler: Handler, options: Partial<ConsumeOptions> = {}) {
  const controller = new AbortController()
  const done = queue.consume(handler, { pollMs: 20, ...options, signal: controller.signal })
  return {
    stop() {
      controller.abort()
      return done
    },
  }
}

async function consumeUntil(queue: Consumes, handler: Handler, enough: () => boolean): Promise<void> {
  const consumer = running(queue, handler)
  await until(enough)
  await consumer.stop()
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(5)
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
