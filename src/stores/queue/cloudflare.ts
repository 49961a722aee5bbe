import { describeError, type Log } from '../../lib/log.ts'
import { encodeBody } from './message-body.ts'
import type { DeliveredMessage, Handler, Message, Queue } from './queue.ts'
import { retryDelaySeconds } from './retry-delay.ts'
import { inTime } from './send-deadline.ts'

/** What we use of a Workers queue binding. */
export interface QueueBinding {
  sendBatch(messages: Iterable<{ body: unknown }>, options?: { delaySeconds?: number }): Promise<unknown>
}

/** What we use of a batch that Workers hands to a consumer. */
export interface QueueBatch {
  readonly messages: readonly QueueMessage[]
}

export interface QueueMessage {
  readonly id: string
  readonly body: unknown
  readonly attempts: number
  ack(): void
  retry(options?: { delaySeconds?: number }): void
}

/** Cloudflare Queues. Messages beyond the limit of one call are sent in several, so a rejected send may have sent the first
 *  ones. */
export function cloudflareQueue(binding: QueueBinding): Queue {
  return {
    async send(messages, options) {
      for (const chunk of chunksOf(messages)) await inTime(binding.sendBatch(chunk, options))
    },
  }
}

/** Handles each message of a batch on its own: a failed one is delivered again later. The binding's `max_retries` and
 *  `dead_letter_queue` limit the deliveries. */
export async function deliver(batch: QueueBatch, handler: Handler, log: Log): Promise<void> {
  await Promise.all(
    batch.messages.map(async (message) => {
      try {
        await handler(deliveryOf(message))
        message.ack()
      } catch (error) {
        log.warn('queue.delivery_failed', { id: message.id, attempt: message.attempts, error: describeError(error) })
        retryLater(message)
      }
    }),
  )
}

/** Has a message delivered again after a pause that grows with its attempts. */
export function retryLater(message: QueueMessage): void {
  message.retry({ delaySeconds: retryDelaySeconds(message.attempts) })
}

function deliveryOf({ id, attempts, body }: QueueMessage): DeliveredMessage {
  if (typeof body !== 'object' || body === null || !('topic' in body) || typeof body.topic !== 'string') {
    throw new TypeError('This message was not sent by the gateway: it has no topic.')
  }
  return { id, attempt: attempts, topic: body.topic, body: 'body' in body ? body.body : undefined }
}

const encoder = new TextEncoder()

// One call takes 100 messages and 256 KB, including the envelopes.
const MESSAGES_A_CALL = 100
const BYTES_A_CALL = 250_000
const ENVELOPE_BYTES = 200

function* chunksOf(messages: readonly Message[]): Generator<{ body: Message }[]> {
  // All messages are encoded before the first is sent, so that an invalid one fails the send as a whole.
  const sized = messages.map(({ topic, body }) => {
    const bytes = encoder.encode(topic + encodeBody(body)).length + ENVELOPE_BYTES
    return { message: { body: { topic, body } }, bytes }
  })
  let chunk: { body: Message }[] = []
  let total = 0
  for (const { message, bytes } of sized) {
    if (chunk.length === MESSAGES_A_CALL || (chunk.length > 0 && total + bytes > BYTES_A_CALL)) {
      yield chunk
      chunk = []
      total = 0
    }
    chunk.push(message)
    total += bytes
  }
  if (chunk.length > 0) yield chunk
}
