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

interface Waiting {
  readonly topic: Topic
  readonly entry: object
  readonly since: number
}

/** How long one request sends for others: it may have no more than 30 s itself. */
const SENDS_FOR_OTHERS_MS = 5000

/** Sends entries through the queue of the runtime, which keeps them: an isolate may end with any request. What comes
 *  while some are being sent goes together, next. What the queue does not take is written at once. */
export function queuedDelivery({ queue, sql, log, report, defer }: QueuedDeliveryOptions): Delivery {
  let waiting: Waiting[] = []
  const sending = new Set<readonly Waiting[]>()
  const works = new Set<Promise<void>>()
  /** When the request that sends for all began to; nobody does at `-Infinity`. */
  let begunAt = Number.NEGATIVE_INFINITY

  const tell = (type: RecordsMoved['type'], entries: readonly Waiting[]) =>
    report({
      type,
      topic: (entries[0] as Waiting).topic.name,
      records: entries.length,
      waitedMs: Date.now() - (entries[0] as Waiting).since,
    })

  async function write(entries: readonly Waiting[]): Promise<void> {
    const { topic } = entries[0] as Waiting
    try {
      await topic.write(
        sql,
        entries.map(({ entry }) => entry),
      )
      tell('records.written', entries)
    } catch (error) {
      if (isPoison(error) && entries.length > 1) {
        await Promise.all(entries.map((one) => write([one])))
        return
      }
      tell('records.dropped', entries)
      log.error('records.dropped', { topic: topic.name, records: entries.length, error: describeError(error) })
    }
  }

  async function send(entries: readonly Waiting[]): Promise<void> {
    sending.add(entries)
    try {
      await queue.send(entries.map(({ topic, entry }) => ({ topic: PREFIX + topic.name, body: entry })))
    } catch (error) {
      log.warn('records.not_queued', { records: entries.length, error: describeError(error) })
      await Promise.all([...Map.groupBy(entries, ({ topic }) => topic).values()].map(write))
    } finally {
      sending.delete(entries)
    }
  }

  async function sendAll(): Promise<void> {
    const own = Date.now()
    begunAt = own
    // Another that took over has taken all that waited, too.
    while (waiting.length > 0 && begunAt === own) {
      const entries = waiting
      waiting = []
      await send(entries)
    }
    if (begunAt === own) begunAt = Number.NEGATIVE_INFINITY
  }

  return {
    deliver(topic, entry) {
      const since = Date.now()
      waiting.push({ topic: topic as Topic, entry, since })
      if (since - begunAt < SENDS_FOR_OTHERS_MS) return
      const work = sendAll().finally(() => works.delete(work))
      works.add(work)
      defer(work)
    },
    depth: (topic) =>
      [waiting, ...sending].reduce((sum, some) => sum + some.filter(({ topic: of }) => of.name === topic).length, 0),
    async drain() {
      await Promise.all(works)
      return waiting.length
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
