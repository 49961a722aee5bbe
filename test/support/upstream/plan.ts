import { type Behaviour, type Headers, type Plan, type Write, writeOf } from './behaviour.ts'
import { cutAfter, stallAfter } from './connection.ts'
import { comments, lineEnds, oneWrite, recut } from './delivery.ts'
import { insert, marked, packed, truncated, wrongTypes } from './lies.ts'
import { type AnswerOptions, type ChatRequest, chatFrames, chatReply } from './openai-chat.ts'
import { type EmbeddingsRequest, embeddingsReply } from './openai-embeddings.ts'
import { slowBetween, slowFirstToken, slowHeaders } from './timing.ts'

const CHANGES = Object.fromEntries(
  [
    ...[cutAfter, stallAfter],
    ...[comments, lineEnds, oneWrite, recut],
    ...[insert, marked, packed, truncated, wrongTypes],
    ...[slowBetween, slowFirstToken, slowHeaders],
  ].map((maker) => [maker.change, maker.apply as (plan: Plan, options: unknown) => Plan]),
)

/** One call as far as its answer depends on it. */
export interface Asked {
  readonly method: string
  readonly path: string
  /** The parsed JSON body, undefined when it is none. */
  readonly body: unknown
  /** Counts calls from 1: ids are made of it. */
  readonly serial: number
  /** What `GET /v1/models` lists. */
  readonly models: readonly string[]
}

/** Lays out what is going to be sent. */
export function planOf(behaviour: Behaviour, asked: Asked): Plan {
  let plan = saying(behaviour, asked)
  for (const { change, options } of behaviour.changes) {
    const apply = CHANGES[change]
    if (!apply) throw new TypeError(`no such change: ${change}`)
    plan = apply(plan, options ?? {})
  }
  return plan
}

function saying({ say }: Behaviour, asked: Asked): Plan {
  if (say.kind === 'nothing') return { waitMs: 0, head: undefined, writes: [], ending: say.ending }
  if (say.kind === 'answer') return trueAnswer(say.options, asked)
  const writes = say.pieces.filter((piece) => piece !== '').map((piece) => writeOf(piece))
  return reply(say.status, say.headers, writes, say.headers['content-type']?.includes('event-stream') !== true)
}

function trueAnswer(options: AnswerOptions, asked: Asked): Plan {
  const path = asked.path.split('?')[0] ?? ''
  const request = (asked.body ?? {}) as ChatRequest & EmbeddingsRequest & { stream?: boolean }
  const jsonHeaders = { 'content-type': 'application/json', ...vendorHeaders(asked.serial) }
  const whole = (text: string, status = 200) => reply(status, jsonHeaders, [writeOf(text)], true)

  if (path.endsWith('/models') && asked.method === 'GET') return whole(modelList(asked.models))
  if (path.endsWith('/embeddings')) return whole(embeddingsReply(request, options.model))
  if (!path.endsWith('/chat/completions')) {
    const message = `Unknown request URL: ${asked.method} ${path}. Please check the URL for typos, or see the docs at https://platform.openai.com/docs/api-reference/.`
    return whole(
      JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: 'unknown_url' } }),
      404,
    )
  }
  if (request.stream !== true) return whole(chatReply(request, options, asked.serial))
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', ...vendorHeaders(asked.serial) }
  const writes = chatFrames(request, options, asked.serial).map((frame) => writeOf(frame))
  return reply(200, headers, writes, false)
}

function reply(status: number, headers: Headers, writes: readonly Write[], measured: boolean): Plan {
  const length = writes.reduce((sum, write) => sum + write.bytes.byteLength, 0)
  const all = measured ? { ...headers, 'content-length': String(length) } : headers
  return { waitMs: 0, head: { status, headers: all }, writes, ending: 'end' }
}

function modelList(models: readonly string[]): string {
  const data = models.map((id) => ({ id, object: 'model', created: 1_721_172_717, owned_by: 'system' }))
  return JSON.stringify({ object: 'list', data })
}

/** What the vendor sends along, its cookie too, which must not reach anybody's client. */
function vendorHeaders(serial: number): Headers {
  return {
    'openai-organization': 'scripted-org',
    'openai-processing-ms': '17',
    'openai-version': '2020-10-01',
    'x-request-id': `req_${serial.toString(16).padStart(32, '0')}`,
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-limit-tokens': '200000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-remaining-tokens': '199984',
    'x-ratelimit-reset-requests': '8.64s',
    'x-ratelimit-reset-tokens': '4ms',
    'set-cookie': '__cf_bm=vendor-cookie; path=/; HttpOnly; Secure; SameSite=None',
    server: 'cloudflare',
    'cf-ray': `${serial.toString(16).padStart(16, '0')}-ZRH`,
  }
}
