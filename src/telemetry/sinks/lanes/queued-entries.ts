import { parseExactly } from '../../../lib/json/exact-json.ts'
import type { Log } from '../../../lib/log.ts'
import { type QueueMessage, retryLater } from '../../../stores/queue/cloudflare.ts'
import { isShortEnough } from '../../../stores/queue/message-body.ts'
import type { Message } from '../../../stores/queue/queue.ts'
import { retryDelaySeconds } from '../../../stores/queue/retry-delay.ts'
import { loggable } from '../../content/loggable.ts'
import type { Sink, SinkEntry, SinkFailure } from '../sink.ts'
import { attemptDelivery, wishedMs } from './attempt.ts'
import type { Tally } from './tally.ts'

const PREFIX = 'sink:'

/** So often an entry is tried in a day, in which two versions of a Worker may serve beside each other. */
const TRIES_A_DAY = 34
const isYoung = ({ attempts }: QueueMessage) => attempts < TRIES_A_DAY

/** The most bytes of a request's content, and of an answer's, where both are too long for a message. */
const SHORTENED_BYTES = 32_768
/** Content of fewer characters is never too long, however they are escaped. */
const SHORT_CHARACTERS = 14_000

/** An entry as a message of a queue. Content that is too long for a message is shortened. */
export const sinkMessage = (sink: string, entry: SinkEntry): Message => ({ topic: PREFIX + sink, body: fitting(entry) })

function fitting(entry: SinkEntry): SinkEntry {
  const { content } = entry
  if (!content || content.request.length + content.answer.length < SHORT_CHARACTERS) return entry
  let fit = entry
  for (let maxBytes = SHORTENED_BYTES; !isShortEnough(fit); maxBytes /= 2) {
    // What the gateway's patterns match was redacted when the content was recorded.
    const short = (text: string) => loggable(parseExactly(text), { maxBytes, redact: [] })
    fit = { ...entry, content: { request: short(content.request), answer: short(content.answer) } }
    if (maxBytes < 1) return { ...entry, content: undefined }
  }
  return fit
}

/** Whether a message of the queue carries an entry of a sink. */
export function carriesEntry({ body }: QueueMessage): boolean {
  return sinkNameIn(body) !== undefined
}

/** Delivers the entries of a batch of messages, one request for each sink. Entries that fail for now are delivered
 *  again; one that the far end refuses is dropped. */
export async function deliverQueued(
  messages: readonly QueueMessage[],
  sinks: ReadonlyMap<string, { readonly sink: Sink; readonly counts: Tally }>,
  log: Log,
): Promise<void> {
  const bySink = Map.groupBy(messages, ({ body }) => sinkNameIn(body) ?? '')
  await Promise.all([...bySink].map(([name, ofSink]) => deliverTo(name, ofSink)))

  async function deliverTo(name: string, ofSink: readonly QueueMessage[]): Promise<void> {
    const found = sinks.get(name)
    if (!found) {
      // Of a sink that a newer version has, which delivers them; or of one that was switched off while they waited.
      const [waiting, over] = [ofSink.filter(isYoung), ofSink.filter((message) => !isYoung(message))]
      for (const message of waiting) retryLater(message)
      for (const message of over) message.ack()
      if (over.length === 0) return
      log.error('sink.dropped', { sink: name, entries: over.length, reason: 'it is no longer configured' })
      return
    }
    const { sink, counts } = found
    await deliver(sink, ofSink)

    async function deliver(to: Sink, some: readonly QueueMessage[]): Promise<void> {
      const entries = some.map(entryOf)
      try {
        const { again = [], refused = 0, retryAfterSeconds, answer } = await attemptDelivery(to, entries)
        const left = new Set(again)
        for (const [index, message] of some.entries()) {
          if (left.has(entries[index] as SinkEntry)) later(message, retryAfterSeconds)
          else message.ack()
        }
        const taken = some.length - again.length - refused
        if (taken > 0) counts.delivered(taken)
        if (refused > 0) counts.dropped(refused, answer)
        if (again.length > 0) counts.failed(again.length, answer)
      } catch (error) {
        const { kind, message: words, retryAfterSeconds } = error as SinkFailure
        counts.failed(some.length, words)
        if (kind === 'away') for (const message of some) later(message, retryAfterSeconds)
        else if (some.length > 1) {
          const half = Math.ceil(some.length / 2)
          await deliver(to, some.slice(0, half))
          await deliver(to, some.slice(half))
        } else {
          some[0]?.ack()
          counts.dropped(1, words)
        }
      }
    }
  }
}

function later(message: QueueMessage, retryAfterSeconds: number | undefined): void {
  const wished = Math.ceil(wishedMs(retryAfterSeconds) / 1000)
  message.retry({ delaySeconds: Math.max(wished, retryDelaySeconds(message.attempts)) })
}

function entryOf({ body }: QueueMessage): SinkEntry {
  return (body as { readonly body: SinkEntry }).body
}

function sinkNameIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('topic' in body)) return undefined
  const { topic } = body
  return typeof topic === 'string' && topic.startsWith(PREFIX) ? topic.slice(PREFIX.length) : undefined
}
