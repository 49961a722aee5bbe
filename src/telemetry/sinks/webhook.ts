import type { WebhookEvent } from '../../config/sections/callback-settings.ts'
import type { Abort } from '../../lib/abort.ts'
import { reveal, type Secret } from '../../lib/secret.ts'
import type { Transport } from '../../transport/transport.ts'
import type { CallFinished } from '../events.ts'
import { NOTICES } from '../notices.ts'
import { inTime } from './lanes/attempt.ts'
import { noticeData, PUBLIC_NAMES, snakeCase } from './notice-data.ts'
import { post } from './post.ts'
import { CALLS_ALONE, type Delivered, type Sink, type SinkEntry, type SinkEvent, SinkFailure } from './sink.ts'

export interface WebhookSettings {
  readonly url: string
  /** `whsec_` and the key in base64. */
  readonly secret: Secret
  readonly events: readonly WebhookEvent[]
  readonly headers: Readonly<Record<string, Secret>>
}

/** So many posts are on their way at once, unless the runtime allows fewer. */
const AT_ONCE = 16
/** How long a post may take. */
const POST_MS = 10_000
/** Of a post whose turn did not come. */
const NOT_BEGUN = new SinkFailure('away', 'it takes too long to answer')

/** Posts each event by itself, signed as Standard Webhooks asks (https://www.standardwebhooks.com). Calls and notices have a
 *  sink each, so that many calls delay or displace no notice. The first is `webhook`, another one `webhook.notices`. */
export function webhook(
  settings: WebhookSettings,
  transport: Transport,
  { postMs = POST_MS, atOnce = AT_ONCE }: { readonly postMs?: number; readonly atOnce?: number } = {},
): Sink[] {
  const chosen = (of: readonly SinkEvent['type'][]) =>
    new Set(of.filter((type) => settings.events.includes(PUBLIC_NAMES[type])))
  return [chosen([...CALLS_ALONE]), chosen(NOTICES)]
    .filter(({ size }) => size > 0)
    .map((takes, index) =>
      posting(index === 0 ? 'webhook' : 'webhook.notices', { takes, settings, transport, postMs, atOnce }),
    )
}

function posting(
  name: string,
  {
    takes,
    settings: { url, secret, headers },
    transport,
    postMs,
    atOnce,
  }: {
    readonly takes: Sink['takes']
    readonly settings: WebhookSettings
    readonly transport: Transport
    readonly postMs: number
    readonly atOnce: number
  },
): Sink {
  const sign = signer(secret)

  async function send({ id, event }: SinkEntry, abort: Abort): Promise<number> {
    const { type, at } = event
    const data = event.type === 'call.finished' ? callData(event) : noticeData(event)
    const body = JSON.stringify({ type: PUBLIC_NAMES[type], timestamp: at, data })
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signature = await sign(`${id}.${timestamp}.${body}`)
    const own = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
    const request = { url, headers: { ...headers, 'content-type': 'application/json', ...own }, body }
    // Each for itself: one that gets no answer is no reason to send the others again.
    const { status } = await inTime(postMs, (inPost) => post(transport, request, inPost), abort)
    return status
  }

  /** Posts entries, so many at once; what has not begun in the time of one post waits for the next delivery. */
  async function sendAll(entries: readonly SinkEntry[], abort: Abort): Promise<PromiseSettledResult<number>[]> {
    const outcomes = entries.map((): PromiseSettledResult<number> => ({ status: 'rejected', reason: NOT_BEGUN }))
    const endsAt = performance.now() + postMs
    let next = 0
    async function sendSome(): Promise<void> {
      while (next < entries.length && performance.now() < endsAt && !abort.aborted) {
        const index = next++
        const [outcome] = await Promise.allSettled([send(entries[index] as SinkEntry, abort)])
        outcomes[index] = outcome
      }
    }
    await Promise.all(Array.from({ length: Math.min(atOnce, AT_ONCE) }, sendSome))
    return outcomes
  }

  return {
    name,
    gathering: { entries: AT_ONCE, bytes: Number.POSITIVE_INFINITY, ms: 250 },
    takesContent: false,
    // The last post begins when the time of the first is over. What is left is for their ends.
    answerMs: 2.5 * postMs,
    takes,
    async deliver(entries, abort): Promise<Delivered> {
      const outcomes = await sendAll(entries, abort)
      const failures = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
      const [first] = failures
      if (entries.length === 1 && first) throw first
      const isFinal = (failure: unknown) => failure instanceof SinkFailure && failure.kind !== 'away'
      const again = entries.filter((_, index) => {
        const outcome = outcomes[index] as PromiseSettledResult<number>
        return outcome.status === 'rejected' && !isFinal(outcome.reason)
      })
      const wishes = failures.map((one) => (one instanceof SinkFailure ? (one.retryAfterSeconds ?? 0) : 0))
      return {
        answer: first instanceof Error ? first.message : `it answered ${statusIn(outcomes)}`,
        again,
        refused: failures.filter(isFinal).length,
        retryAfterSeconds: Math.max(0, ...wishes),
      }
    },
  }
}

function statusIn(outcomes: readonly PromiseSettledResult<number>[]): number | undefined {
  const answered = outcomes.find((one) => one.status === 'fulfilled')
  return answered?.status === 'fulfilled' ? answered.value : undefined
}

/** The fields of a call in the spelling of every other answer of the API. */
function callData({ type: _type, at: _at, ...fields }: CallFinished): Record<string, unknown> {
  return wireData(fields)
}

function wireData(data: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [snakeCase(name), wireValue(value)]))
}

function wireValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wireValue)
  return typeof value === 'object' && value !== null ? wireData(value) : value
}

function signer(secret: Secret): (text: string) => Promise<string> {
  let importing: Promise<CryptoKey> | undefined
  return async (text) => {
    importing ??= crypto.subtle.importKey('raw', keyBytes(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    const signature = await crypto.subtle.sign('HMAC', await importing, new TextEncoder().encode(text))
    return `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`
  }
}

function keyBytes(secret: Secret): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(reveal(secret).replace(/^whsec_/, '')), (letter) => letter.charCodeAt(0))
}
