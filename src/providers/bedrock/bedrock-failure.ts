import type { GatewayError } from '../../lib/errors.ts'
import { asText, entryOf, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import { retryAfterSeconds } from '../../lib/retry-after.ts'
import { classifyFailure } from '../openai/failure.ts'

/** The statuses of exceptions whose HTTP status is less precise, or which come inside a stream without one. */
const STATUSES: Readonly<Record<string, number>> = {
  ThrottlingException: 429,
  TooManyRequestsException: 429,
  ServiceQuotaExceededException: 429,
  // A 429 that means that the model is being loaded, not a rate limit.
  ModelNotReadyException: 503,
  ModelTimeoutException: 408,
  ModelErrorException: 502,
  ModelStreamErrorException: 502,
  InternalServerException: 500,
  ServiceUnavailableException: 503,
  AccessDeniedException: 403,
  ResourceNotFoundException: 404,
  UnrecognizedClientException: 403,
  ExpiredTokenException: 403,
  InvalidSignatureException: 403,
  ValidationException: 400,
}

/** Longer messages are not about the model: they repeat what the client sent. */
const LONGEST_ABOUT_MODEL = 2000
const QUOTED = /(?<!\w)(['"`])(?=\S).*?\1(?!\w)/gs

/** Validation errors that are the operator's mistake, not the client's. */
const WRONG_MODEL =
  /model identifier is invalid|on-demand throughput isn.t supported|operation not allowed|model is not supported|marked .* as legacy|end of its life/i
const TOO_LONG =
  /input is too long|prompt is too long|exceeds? (the )?(maximum|model'?s?) (context|input)|context limit/i

/** Names the failure that an answer outside 2xx reports. */
export function bedrockFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  now: number,
): GatewayError {
  const body = parseRecord(bytes) ?? {}
  const name = (headers['x-amzn-errortype'] ?? asText(body.__type)).replace(/:.*$/, '').replace(/^.*#/, '')
  return exception(name, messageIn(body), status, retryAfterSeconds(headers, now))
}

/** Names an exception inside an answer of status 200; undefined if there is none. */
export function embeddedFailure(body: JsonRecord): GatewayError | undefined {
  const name = asText(body.__type).replace(/^.*#/, '')
  return name === '' ? undefined : exception(name, messageIn(body))
}

/** Names an exception by its name, which begins with a small letter in streams. */
export function exception(name: string, message: string, status = 502, retryAfter?: number): GatewayError {
  const code = name.slice(0, 1).toUpperCase() + name.slice(1)
  const meant = entryOf(STATUSES, code) ?? status
  // The message repeats the client's text in quotes, which does not count.
  const refused =
    meant === 400 && message.length <= LONGEST_ABOUT_MODEL && WRONG_MODEL.test(message.replace(QUOTED, ''))
  const wire = {
    message: message === '' ? undefined : message,
    type: TOO_LONG.test(message) ? 'context_length_exceeded' : undefined,
    code: code === '' ? undefined : code,
    param: undefined,
  }
  return classifyFailure(refused ? 404 : meant, wire, retryAfter)
}

function messageIn(body: JsonRecord): string {
  return asText(body.message) || asText(body.Message)
}
