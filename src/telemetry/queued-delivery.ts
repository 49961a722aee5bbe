import { describeError, type Log } from '../lib/log.ts'
import type { QueueMessage } from '../stores/queue/cloudflare.ts'
import type { Queue } from '../stores/queue/queue.ts'
import { retryDelaySeconds } from '../stores/queue/retry-delay.ts'
import type { Sql } from '../stores/sql/sql.ts'
import type { Delivery, Topic } from './delivery.ts'
import type { RecordsMoved } from './events.ts'
import { isPoison } from './poison.ts'

const PREFIX = 'records:'

export interface QueuedDeliveryOptions {
  readonly queue: Queue
  readonly sql: Sql
  readonly log: Log
  /** Hears what became of the entries. */
  readonly report: (event: RecordsMoved) => void
  /** Keeps the runtime alive for work that outlives an answer. */
  readonly defer: (work: Promise<unknown>) => void
}

/** Sends entries through the queue of the runtime, which keeps them: an isolate may end with any request. One that the
 *  queue does not take is written at once. */
export function queuedDelivery({ queue, sql, log, report, defer }: QueuedDeliveryOptions): Delivery {
  const sending = new Set<Promise<void>>()
  async function send(topic: Topic, entry: object): Promise<void> {
    const handedOverAt = Date.now()
    const tell = (type: RecordsMoved['type']) =>
      report({ type, topic: topic.name, records: 1, waitedMs: Date.now() - handedOverAt })
    try {
      await queue.send([{ topic: PREFIX + topic.name, body: entry }])
    } catch (error) {
      log.warn('records.not_queued', { topic: topic.name, error: describeError(error) })
      try {
        await topic.write(sql, [entry])
        tell('records.written')
      } catch (reason) {
        tell('records.dropped')
        log.error('records.dropped', { topic: topic.name, error: describeError(reason) })
      }
    }
  }
  return {
    deliver(topic, entry) {
      const work = send(topic as Topic, entry).finally(() => sending.delete(work))
      sending.add(work)
      defer(work)
    },
    depth: () => sending.size,
    async drain() {
      await Promise.all(sending)
      return 0
    },
  }
}

/** Whether a message of the queue carries a record. */
export function carriesRecord({ body }: QueueMessage): boolean {
  return topicOf(body)?.startsWith(PREFIX) === true
}

/** Writes the records of a batch of messages, one statement a topic. What the database cannot take now comes again, and
 *  one that it can never take goes its own way to the dead letters. */
export async function writeQueued(
  messages: readonly QueueMessage[],
  {
    topics,
    sql,
    log,
    report,
  }: Pick<QueuedDeliveryOptions, 'sql' | 'log' | 'report'> & { readonly topics: readonly Topic[] },
): Promise<void> {
  const byTopic = Map.groupBy(messages, ({ body }) => topicOf(body)?.slice(PREFIX.length) ?? '')
  await Promise.all([...byTopic].map(([name, ofTopic]) => write(name, ofTopic)))

  async function write(name: string, ofTopic: readonly QueueMessage[]): Promise<void> {
    const begunAt = Date.now()
    const tell = (type: RecordsMoved['type']) =>
      report({ type, topic: name, records: ofTopic.length, waitedMs: Date.now() - begunAt })
    try {
      const topic = topics.find((one) => one.name === name)
      if (!topic) throw new TypeError(`nothing writes records of topic '${name}'`)
      await topic.write(
        sql,
        ofTopic.map(({ body }) => (body as { body: object }).body),
      )
      for (const message of ofTopic) message.ack()
      tell('records.written')
    } catch (error) {
      tell('records.failed')
      log.warn('records.failed', { topic: name, records: ofTopic.length, error: describeError(error) })
      if (isPoison(error) && ofTopic.length > 1) await Promise.all(ofTopic.map((message) => write(name, [message])))
      else for (const message of ofTopic) message.retry({ delaySeconds: retryDelaySeconds(message.attempts) })
    }
  }
}

function topicOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('topic' in body)) return undefined
  return typeof body.topic === 'string' ? body.topic : undefined
}
