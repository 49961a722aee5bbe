import type { GatewayError } from '../../lib/errors.ts'
import { asText, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import { retryAfterSeconds } from '../../lib/retry-after.ts'
import { classifyFailure } from '../openai/failure.ts'

/** Names the failure that an answer outside 2xx reports: `err_code` and `err_msg`, or `category` and `message`. */
export function deepgramFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  now: number,
): GatewayError {
  return named(status, parseRecord(bytes) ?? {}, retryAfterSeconds(headers, now))
}

/** Names an error inside an answer of status 200. */
export function deepgramEmbeddedFailure(body: JsonRecord): GatewayError {
  return named(502, body, undefined)
}

function named(status: number, body: JsonRecord, retryAfter: number | undefined): GatewayError {
  const message = asText(body.err_msg) || asText(body.message) || asText(body.details) || undefined
  const code = asText(body.err_code) || asText(body.category) || undefined
  return classifyFailure(status, { message, code, type: undefined, param: undefined }, retryAfter)
}
