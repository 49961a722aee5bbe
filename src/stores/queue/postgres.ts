import { describeError, type Log } from '../../lib/log.ts'
import type { Result, Sql } from '../sql/sql.ts'
import { keepable } from '../sql/storable-text.ts'
import { encodeBody } from './message-body.ts'
import type { Handler, Queue } from './queue.ts'
import { retryDelaySeconds } from './retry-delay.ts'
import { inTime } from './send-deadline.ts'
import { wake } from './wake.ts'

export interface PostgresQueueOptions {
  readonly log: Log
  /** A message taken by a process that died is delivered again after this long. */
  readonly leaseSeconds?: number
  readonly maxAttempts?: number
  readonly retryDelay?: (attempt: number) => number
}

export interface ConsumeOptions {
  /** Ends consumption: no more messages are claimed, and the promise resolves when the running handlers have finished. */
  readonly signal: AbortSignal
  /** How often the table is polled for messages of other processes and delayed ones. Messages of this process are claimed
   *  at once. */
  readonly pollMs?: number
  readonly concurrency?: number
}

export interface PostgresQueue extends Queue {
  consume(handler: Handler, options: ConsumeOptions): Promise<void>
}

/** A queue in the table `gateway_queue`, for runtimes without a queue. Any number of processes may consume it: a message is
 *  leased to one process at a time, which renews the lease while its handler runs. */
export function postgresQueue(sql: Sql, options: PostgresQueueOptions): PostgresQueue {
  const { log, leaseSeconds = 60, maxAttempts = 10, retryDelay = retryDelaySeconds } = options
  const table = queueTable(sql, leaseSeconds, maxAttempts)
  const work = wake()

  async function handle(claimed: Claimed, handler: Handler): Promise<void> {
    const { id, topic, body, attempts: attempt } = claimed
    const renewal = setInterval(() => table.renew(claimed).catch(() => {}), (leaseSeconds * 1000) / 3)
    try {
      await handler({ id, topic, body, attempt })
      await table.done(claimed)
    } catch (error) {
      const description = describeError(error)
      log.warn('queue.delivery_failed', { topic, id, attempt, error: description })
      await table.failed(claimed, retryDelay(attempt), description)
    } finally {
      clearInterval(renewal)
    }
  }

  return {
    async send(messages, { delaySeconds = 0 } = {}) {
      if (messages.length === 0) return
      const topics = messages.map(({ topic }) => topic)
      const bodies = messages.map(({ body }) => encodeBody(body))
      await inTime(table.add(topics, bodies, delaySeconds))
      work.signal()
    },

    async consume(handler, { signal, pollMs = 1000, concurrency = 8 }) {
      const running = new Set<Promise<void>>()
      const stop = () => work.signal()
      signal.addEventListener('abort', stop)
      while (!signal.aborted) {
        const signals = work.count()
        const claimed = await table.claim(concurrency - running.size).catch((error) => {
          log.error('queue.claim_failed', { error: describeError(error) })
          return []
        })
        for (const one of claimed) {
          const handling = handle(one, handler)
            // The lease expires, and the message is delivered again.
            .catch((error) => log.error('queue.settle_failed', { id: one.id, error: describeError(error) }))
            .finally(() => {
              running.delete(handling)
              work.signal()
            })
          running.add(handling)
        }
        if (claimed.length === 0 || running.size >= concurrency) await work.wait(signals, pollMs)
      }
      signal.removeEventListener('abort', stop)
      await Promise.all(running)
    },
  }
}

interface Claimed {
  readonly id: string
  readonly topic: string
  readonly body: unknown
  readonly attempts: number
  readonly dead: boolean
}

/** The statements. `attempts` is also a fencing token: an attempt that lost its lease to a later one cannot fail the
 *  message. Static text: the same few are asked again and again, with locks and leases that are read best as they run. */
function queueTable(sql: Sql, leaseSeconds: number, maxAttempts: number) {
  const run = <Row>(text: string, ...parameters: unknown[]): Promise<Result<Row>> =>
    sql.query<Row>({ sql: text, parameters })
  return {
    add: (topics: string[], bodies: string[], delaySeconds: number) =>
      run(
        `INSERT INTO gateway_queue (topic, body, due_at)
         SELECT topic, body::json, now() + $3 * interval '1 second'
         FROM unnest($1::text[], $2::text[]) AS message (topic, body)`,
        topics,
        bodies,
        delaySeconds,
      ),

    /** Claims due messages. One whose last attempt never reported back is dead-lettered, since it may have killed its
     *  process. */
    async claim(limit: number): Promise<Claimed[]> {
      if (limit <= 0) return []
      const { rows } = await run<Claimed>(
        `WITH due AS MATERIALIZED (
           SELECT id FROM gateway_queue WHERE dead_at IS NULL AND due_at <= now()
           ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
         )
         UPDATE gateway_queue AS queue
         SET attempts = CASE WHEN attempts < $2 THEN attempts + 1 ELSE attempts END,
             due_at = now() + $3 * interval '1 second',
             dead_at = CASE WHEN attempts >= $2 THEN now() END,
             last_error = CASE WHEN attempts >= $2 THEN coalesce(last_error, 'never reported back') ELSE last_error END
         FROM due WHERE queue.id = due.id
         RETURNING queue.id, topic, body, attempts, dead_at IS NOT NULL AS dead`,
        limit,
        maxAttempts,
        leaseSeconds,
      )
      return rows.filter(({ dead }) => !dead)
    },

    renew: ({ id, attempts }: Claimed) =>
      run(
        `UPDATE gateway_queue SET due_at = now() + $3 * interval '1 second'
         WHERE id = $1 AND attempts = $2 AND dead_at IS NULL`,
        id,
        attempts,
        leaseSeconds,
      ),

    /** Deletes a message, even if its lease was lost, because its work is done. */
    done: ({ id }: Claimed) => run('DELETE FROM gateway_queue WHERE id = $1', id),

    failed: ({ id, attempts }: Claimed, delaySeconds: number, error: string) =>
      run(
        `UPDATE gateway_queue
         SET due_at = now() + $3 * interval '1 second',
             last_error = $4,
             dead_at = CASE WHEN attempts >= $5 THEN now() END
         WHERE id = $1 AND attempts = $2 AND dead_at IS NULL`,
        id,
        attempts,
        delaySeconds,
        keepable(error, 500),
        maxAttempts,
      ),
  }
}
