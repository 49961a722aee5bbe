import { describeError, type Log } from '../../lib/log.ts'
import { type QueueMessage, retryLater } from '../../stores/queue/cloudflare.ts'
import type { Message } from '../../stores/queue/queue.ts'
import type { Sql } from '../../stores/sql/sql.ts'
import type { RecordsMoved } from '../events.ts'
import { type DeadLetters, isKept } from './dead-letters.ts'
import type { Topic } from './delivery.ts'
import { isPoison } from './poison.ts'

const PREFIX = 'records:'

export interface QueuedRecordsOptions {
  readonly topics: readonly Topic[]
  readonly sql: Sql
  readonly log: Log
  /** The place of records that the database refuses and that cannot be added up. */
  readonly deadLetters?: DeadLetters
  /** Called with the outcome for the records. */
  readonly report: (event: RecordsMoved) => void
}

/** A record as a message of a queue. */
export const recordMessage = ({ name }: Topic, entry: object): Message => ({ topic: PREFIX + name, body: entry })

/** Whether a message of the queue carries a record. */
export function carriesRecord({ body }: QueueMessage): boolean {
  return topicOf(body)?.startsWith(PREFIX) === true
}

/** Writes the records of a batch of messages, one statement for each topic. Records that fail for now are delivered
 *  again; one that can never be written is kept as a dead letter on its own. */
export async function writeQueued(
  messages: readonly QueueMessage[],
  { topics, sql, log, deadLetters, report }: QueuedRecordsOptions,
): Promise<void> {
  const byTopic = Map.groupBy(messages, ({ body }) => topicOf(body)?.slice(PREFIX.length) ?? '')
  await Promise.all([...byTopic].map(([name, ofTopic]) => write(name, ofTopic)))

  async function write(name: string, ofTopic: readonly QueueMessage[]): Promise<void> {
    const begunAt = Date.now()
    const reportAll = (type: RecordsMoved['type'], spent?: RecordsMoved['spent']) =>
      report({ type, topic: name, records: ofTopic.length, waitedMs: Date.now() - begunAt, spent })
    const topic = topics.find((one) => one.name === name)
    try {
      if (!topic) throw new TypeError(`nothing writes records of topic '${name}'`)
      const spent = await topic.write(sql, ofTopic.map(entryOf))
      for (const message of ofTopic) message.ack()
      reportAll('records.written', spent ?? undefined)
    } catch (error) {
      reportAll('records.failed')
      log.warn('records.failed', { topic: name, records: ofTopic.length, error: describeError(error) })
      if (isPoison(error) && ofTopic.length > 1) await Promise.all(ofTopic.map((message) => write(name, [message])))
      else if (isPoison(error) && topic && (await foldAlone(topic, ofTopic))) reportAll('records.folded')
      else if (isPoison(error) && topic && (await keepRefused(topic, ofTopic, describeError(error))))
        reportAll('records.dead')
      else for (const message of ofTopic) retryLater(message)
    }
  }

  /** Keeps a record that the database refuses; returns whether it could. */
  async function keepRefused(topic: Topic, ofTopic: readonly QueueMessage[], reason: string): Promise<boolean> {
    try {
      for (const message of ofTopic) {
        if (!(await isKept(deadLetters, topic, entryOf(message), reason))) return false
        message.ack()
      }
      log.error('records.dead', { topic: topic.name, records: ofTopic.length, error: reason })
      return true
    } catch {
      return false
    }
  }

  /** Writes the sums of a record that the database refuses; returns whether it could. */
  async function foldAlone({ folding }: Topic, ofTopic: readonly QueueMessage[]): Promise<boolean> {
    if (!folding) return false
    try {
      await folding.topic.write(
        sql,
        ofTopic.map((message) => folding.alone(entryOf(message))),
      )
      for (const message of ofTopic) message.ack()
      return true
    } catch {
      return false
    }
  }
}

function entryOf({ body }: QueueMessage): object {
  return (body as { body: object }).body
}

function topicOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('topic' in body)) return undefined
  return typeof body.topic === 'string' ? body.topic : undefined
}
