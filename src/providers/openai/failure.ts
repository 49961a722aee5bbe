import { type FailureDetails, type FailureName, GatewayError } from '../../lib/errors.ts'
import { asRecord } from '../../lib/json/lenient.ts'
import { retryAfterSeconds } from '../../lib/retry-after.ts'
import { clientsOwn } from '../wire/clients-own.ts'
import type { WireError } from '../wire/wire-error.ts'

const decoder = new TextDecoder()

const CONTEXT_WINDOW =
  /context[_ ](length|window|size)|maximum prompt length|model token limit|max_new_tokens` must be|(prompt|input) is too long|too many tokens|reduce the length of the (messages|prompt)/i

/** Of a 400, which is otherwise about the request. */
const OPERATORS_OWN = /^(incorrect api key provided|your credit balance is too low)/i

/** Of a 403, which is otherwise about our key. */
const MODERATED = /content_policy|violates usage guidelines|requires moderation|input was flagged/i

const CONTENT_POLICY =
  /content[_ ]?filter|content_policy|content management policy|responsibleai|safety system|flagged as potentially violating|content exists risk/i

/** Too many tokens of a while, not of one prompt. */
const OF_A_RATE = /rate.?limit|quota|per (minute|hour|day)/i

/** Names what an answer outside 2xx of an OpenAI-shaped API means. */
export function openaiFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  now: number,
): GatewayError {
  const error = readError(bytes)
  // Some servers have no other status for a prompt that is too long.
  const meant = status === 500 && CONTEXT_WINDOW.test(error.message ?? '') ? 400 : status
  return classifyFailure(meant, error, retryAfterSeconds(headers, now))
}

/** The same for an error that came inside an answer of status 200, whole or as an event. */
export function openaiEmbeddedFailure(error: unknown): GatewayError {
  const wire = readWire(error)
  const status = Number(wire.code)
  if (status >= 400 && status <= 599) return classifyFailure(status, wire, undefined)
  if (/rate_limit|too_many/.test(`${wire.type} ${wire.code}`)) return classifyFailure(429, wire, undefined)
  if (/invalid_request/.test(`${wire.type}`)) return classifyFailure(400, wire, undefined)
  if (wire.type === undefined && isAboutContent(wire)) return classifyFailure(400, wire, undefined)
  return classifyFailure(502, wire, undefined)
}

/** Of an error that says neither a status nor a type: another attempt would be told the same. */
function isAboutContent({ code, inner, message }: WireError): boolean {
  const words = `${code} ${inner} ${message}`
  return (CONTEXT_WINDOW.test(words) || CONTENT_POLICY.test(words)) && !OF_A_RATE.test(words)
}

/** Names a failure by its status, and within the client's own mistakes by its words. */
export function classifyFailure(status: number, error: WireError, retryAfter: number | undefined): GatewayError {
  const failure = failureOf(status, error)
  const details: FailureDetails = {
    ...(error.param !== undefined && failure === 'upstream_rejected' ? { param: error.param } : {}),
    ...(error.code !== undefined && failure === 'upstream_rejected' ? { code: error.code } : {}),
    ...(failure === 'upstream_rejected' ? { status: TOLD.has(status) ? status : 400 } : {}),
    ...(failure === 'upstream_refused' && DOUBTFUL.has(status) ? { blames: 'perhaps' } : {}),
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
  }
  return new GatewayError(failure, messageOf(failure, status, error), details)
}

/** The statuses of a rejection that a client of the gateway is told; others would mean something else here. */
const TOLD: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 416, 422, 424])

/** Of the refusals, those that may be about the kind of request. */
const DOUBTFUL: ReadonlySet<number> = new Set([403, 404, 405])

function failureOf(status: number, error: WireError): FailureName {
  if (status >= 300 && status < 400) return 'upstream_failed'
  const own = clientsOwn(status, error)
  if (own) return own
  if (status === 403 && MODERATED.test(`${error.code} ${error.message}`)) return 'content_policy'
  if (status === 400 && OPERATORS_OWN.test(error.message ?? '')) return 'upstream_refused'
  if (REFUSALS.has(status)) return 'upstream_refused'
  if (status === 429) return 'upstream_rate_limited'
  if (status === 408) return 'upstream_timeout'
  if (status === 508) return 'loop_detected'
  if (status === 409 || status === 425 || status >= 500) return 'upstream_failed'
  const words = `${error.code} ${error.inner} ${error.type} ${error.message}`
  if (CONTEXT_WINDOW.test(words)) return 'context_window'
  if (CONTENT_POLICY.test(words)) return 'content_policy'
  return 'upstream_rejected'
}

/** Statuses of a wrong credential, model or address: none of it is the client's. */
const REFUSALS: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410])

/** A client's mistake is told in the provider's words; the provider's own troubles are told in ours. */
function messageOf(failure: FailureName, status: number, error: WireError): string {
  // Such an answer names the operator's own account.
  if (failure === 'context_window' && (status === 429 || status === 413))
    return 'The request is larger than all that the provider takes of this deployment in a minute.'
  if (failure === 'content_policy' && status === 403)
    return 'The provider refused the content for reasons of its policy.'
  switch (failure) {
    case 'upstream_rejected':
      // Such an answer names the operator's own account.
      if (status === 402) return 'The provider cannot be paid for as many output tokens: lower max_tokens.'
      return error.message ?? `The provider rejected the request with status ${status}.`
    case 'context_window':
    case 'content_policy':
      return error.message ?? `The provider rejected the request with status ${status}.`
    case 'upstream_refused':
      return `The provider refused the gateway's own access with status ${status}. The operator must check the deployment's credentials and model name.`
    case 'loop_detected':
      return "A deployment's api_base leads back to the gateway that asks it. The operator must correct it."
    case 'upstream_rate_limited':
      return 'The provider is rate limiting this deployment. Retry later.'
    default:
      return `The provider failed with status ${status}.`
  }
}

function readError(bytes: Uint8Array): WireError {
  try {
    const body: unknown = JSON.parse(decoder.decode(bytes))
    // Some answer with a list of one, some with the error at the top.
    const first: unknown = Array.isArray(body) ? body[0] : body
    const record = asRecord(first)
    return readWire(record.error ?? record.detail ?? record)
  } catch {
    return readWire(undefined)
  }
}

function readWire(error: unknown): WireError {
  if (typeof error === 'string') return { message: error, type: undefined, code: undefined, param: undefined }
  const record = asRecord(error)
  return {
    message: text(record.message),
    type: text(record.type),
    code: text(record.code),
    inner: text(asRecord(record.innererror).code),
    param: text(record.param),
  }
}

function text(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value
  return typeof value === 'number' ? String(value) : undefined
}
