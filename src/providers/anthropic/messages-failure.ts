import type { GatewayError } from '../../lib/errors.ts'
import { asRecord, asText, entryOf, isRecord, parseRecord } from '../../lib/json/lenient.ts'
import { retryAfterSeconds } from '../../lib/retry-after.ts'
import { classifyFailure } from '../openai/failure.ts'
import type { WireError } from '../wire/wire-error.ts'

/** The HTTP status of each type of error, for errors inside an answer of status 200. */
const STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
}

/** The message for a prompt that together with the requested answer exceeds the context. */
const OVER_LIMIT = /exceed context limit/i

/** Names the failure that an answer outside 2xx of the Messages API reports. */
export function messagesFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  now: number,
): GatewayError {
  const wire = wireError(parseRecord(bytes)?.error)
  // What is wrong with a thread is for the client to mend, whatever the status.
  const meant = asText(wire.details?.error_code).startsWith('thread_') ? 400 : status
  return classifyFailure(meant, wire, retryAfterSeconds(headers, now))
}

/** Names an error inside an answer of status 200, whole or as an event. */
export function messagesEmbeddedFailure(error: unknown): GatewayError {
  const wire = wireError(error)
  return classifyFailure(entryOf(STATUS, wire.type) ?? 500, wire, undefined)
}

function wireError(error: unknown): WireError {
  const { type, message, details } = asRecord(error)
  const words = asText(message) || undefined
  const code = words !== undefined && OVER_LIMIT.test(words) ? 'context_length_exceeded' : undefined
  return {
    message: words,
    type: asText(type) || undefined,
    code,
    param: undefined,
    ...(isRecord(details) ? { details } : {}),
  }
}
