import type { GatewayError } from '../lib/errors.ts'
import type { Answer } from '../pipeline/call.ts'
import { json } from './respond.ts'

/** The one error body of every path. */
export function errorBody(error: GatewayError): object {
  return {
    error: {
      message: error.message,
      type: error.row.type,
      param: error.details.param ?? null,
      code: error.code,
    },
  }
}

/** A failure as an answer. */
export function failureAnswer(error: GatewayError, body: object = errorBody(error)): Answer {
  const { retryAfterSeconds, headers } = error.details
  return json(body, error.status, {
    ...headers,
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) }),
  })
}

const encoder = new TextEncoder()

/** The event that ends a chat stream which failed after it began: no `[DONE]` follows. */
export function chatErrorEvent(error: GatewayError): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(errorBody(error))}\n\n`)
}
