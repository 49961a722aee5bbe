import type { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText, entryOf, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { retryAfterSeconds } from '../../lib/retry-after.ts'
import { classifyFailure } from '../openai/failure.ts'

const decoder = new TextDecoder()

/** HTTP statuses of google.rpc.Code, for errors that come without one. */
const STATUSES: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNKNOWN: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
}

/** A 400 about the deployment: its key, its project, its location. Other messages repeat the client's text, so only their
 *  beginning is matched. */
const DEPLOYMENT_FAULT =
  /^(api key (not valid|expired|not found)|user location is not supported|this api method requires billing|billing)/i
const DEPLOYMENT_REASONS: ReadonlySet<unknown> = new Set([
  'API_KEY_INVALID',
  'API_KEY_EXPIRED',
  'SERVICE_DISABLED',
  'BILLING_DISABLED',
])
/** A 403 about an object that the request names: a file, cached content, an object in a bucket. */
const NAMED_BY_CLIENT =
  /permission to access the (file|object)|^cachedcontent not found|storage\.objects\.get|cannot access .{0,40}gs:\/\//i
const LONGEST_WORDS = 2000
const CONTEXT_WINDOW = /token count .*(exceeds|only supports)|exceeds the maximum number of tokens/i
const CONTENT_POLICY = /PROHIBITED_CONTENT|usage guidelines|violat\w+ .{0,60}polic/i

/** Names the failure that an answer outside 2xx of a Google API reports. */
export function googleFailure(
  status: number,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  now: number,
): GatewayError {
  return classify(status, errorIn(parse(bytes)) ?? {}, retryAfterSeconds(headers, now))
}

/** Names the error inside a document or an event of status 200; undefined if there is none. */
export function googleFailureIn(document: unknown): GatewayError | undefined {
  const error = errorIn(document)
  if (!error) return undefined
  const code = Number(error.code)
  const status = code >= 400 && code <= 599 ? code : (entryOf(STATUSES, error.status) ?? 500)
  return classify(status, error, undefined)
}

function classify(status: number, error: JsonRecord, retryAfter: number | undefined): GatewayError {
  const details = asList(error.details).map(asRecord)
  const reason = details.map(({ reason }) => asText(reason)).find((one) => one !== '')
  const message = asText(error.message)
  // A message may repeat what the client sent.
  const words = `${reason} ${message.slice(0, LONGEST_WORDS)}`
  const rejected = status >= 400 && status < 500
  const code =
    (rejected && CONTEXT_WINDOW.test(words) && 'context_length_exceeded') ||
    (rejected && CONTENT_POLICY.test(words) && 'content_policy') ||
    asText(error.status)
  const wire = { message: message || undefined, type: reason, code: code || undefined, param: undefined }
  return classifyFailure(meantStatus(status, reason, message), wire, delayIn(details) ?? retryAfter)
}

function meantStatus(status: number, reason: string | undefined, message: string): number {
  if (status === 400 && (DEPLOYMENT_REASONS.has(reason) || DEPLOYMENT_FAULT.test(message))) return 401
  if (status === 403 && NAMED_BY_CLIENT.test(message)) return 400
  // Cancelled by Google while the gateway still waited.
  return status === STATUSES.CANCELLED ? 503 : status
}

/** `{"@type": "…/google.rpc.RetryInfo", "retryDelay": "36s"}` */
function delayIn(details: readonly JsonRecord[]): number | undefined {
  const delay = details.map(({ retryDelay }) => asText(retryDelay)).find((one) => /^\d+(\.\d+)?s$/.test(one))
  return delay === undefined ? undefined : Number.parseFloat(delay)
}

/** Some answers are a list of one. */
function errorIn(document: unknown): JsonRecord | undefined {
  const { error } = asRecord(Array.isArray(document) ? document[0] : document)
  if (isRecord(error)) return error
  return typeof error === 'string' ? { message: error } : undefined
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
}
