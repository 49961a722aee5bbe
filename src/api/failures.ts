import { asGatewayError, GatewayError } from '../lib/errors.ts'
import type { Answer } from '../pipeline/answer.ts'
import { SqlError } from '../stores/sql/sql.ts'
import { json } from './respond.ts'

const DATABASE_RETRY_SECONDS = 2

/** A thrown value as the failure for the client. An unreachable database is the same 503 on every path. */
export function asFailure(thrown: unknown): GatewayError {
  const error = asGatewayError(thrown)
  const { cause } = error
  if (error.failure !== 'internal' || !(cause instanceof SqlError) || !cause.isAway) return error
  return new GatewayError('database_unavailable', 'The database is unavailable. Retry later.', {
    retryAfterSeconds: DATABASE_RETRY_SECONDS,
    cause,
  })
}

/** What OpenAI says of a conversation that is too long, over chat and over Responses. */
const TOO_LONG = /maximum context length is \d|exceeds the context window/i

/** The message of a failure for clients of OpenAI: some shorten a conversation when they find its words,
 *  whatever the code is. */
export function openaiMessage({ failure, message }: GatewayError): string {
  const isKnown = failure !== 'context_window' || TOO_LONG.test(message)
  return isKnown ? message : `Your input exceeds the context window of this model: ${message}`
}

/** The one error body of every path. */
export function errorBody(error: GatewayError): object {
  return {
    error: {
      message: openaiMessage(error),
      type: error.row.type,
      param: error.details.param ?? null,
      code: error.code,
    },
  }
}

/** The longest that clients wait before they repeat a call by themselves. */
const LONGEST_WAIT_SECONDS = 60

/** A failure as an answer. Clients of OpenAI and Anthropic repeat a 429 at once, and their agents for minutes, unless they
 *  are told that it is in vain: that a limit or budget does not end by itself, or not soon, or never has room for it. */
export function failureAnswer(error: GatewayError, body: object = errorBody(error)): Answer {
  const { retryAfterSeconds = error.row.retryAfterSeconds, headers } = error.details
  const endsAfter = retryAfterSeconds ?? Number.POSITIVE_INFINITY
  const isLasting = error.failure === 'exceeds_limit' || (error.scope !== '' && endsAfter > LONGEST_WAIT_SECONDS)
  return json(body, error.status, {
    ...headers,
    ...(isLasting ? { 'x-should-retry': 'false' } : {}),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) }),
  })
}

const encoder = new TextEncoder()

/** The event that ends a chat stream which failed after it began: no `[DONE]` follows. */
export function chatErrorEvent(error: GatewayError): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(errorBody(error))}\n\n`)
}
