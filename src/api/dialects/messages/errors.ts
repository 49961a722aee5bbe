import { type FailureName, GatewayError } from '../../../lib/errors.ts'

/** Failures that have a type of their own in this dialect. The type of all others is the same in both. */
const TYPES: Partial<Record<FailureName, string>> = {
  payload_too_large: 'request_too_large',
  budget_exceeded: 'billing_error',
  exceeds_budget: 'billing_error',
  no_matching_deployment: 'overloaded_error',
  no_healthy_deployment: 'overloaded_error',
  no_capacity: 'overloaded_error',
  store_unavailable: 'overloaded_error',
  database_unavailable: 'overloaded_error',
  shutting_down: 'overloaded_error',
  upstream_timeout: 'timeout_error',
  call_timeout: 'timeout_error',
}

/** Types of what a provider rejects with its own status. */
const OF_STATUSES: Readonly<Record<number, string>> = { 404: 'not_found_error', 413: 'request_too_large' }

const TOO_LONG = 'prompt is too long'

/** The clients of this dialect shorten a conversation when they find these words, which only its own vendor says. */
function messageOf({ failure, message }: GatewayError): string {
  const isKnown = failure !== 'context_window' || message.toLowerCase().includes(TOO_LONG)
  return isKnown ? message : `${TOO_LONG}: ${message}`
}

/** What the vendor's clients go by when a thread is refused: they go on without one, or begin another with the whole
 *  conversation. */
function explanationOf({
  failure,
  details: { explanation, param },
}: GatewayError): GatewayError['details']['explanation'] {
  if (explanation) return explanation
  if (param === 'thread' && failure === 'invalid_request') {
    return { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  }
  if (param?.startsWith('thread.') && failure === 'not_found') return { error_code: 'thread_not_found' }
  return undefined
}

/** The error body of the Messages API. */
export function messagesErrorBody(error: GatewayError, requestId?: string): object {
  const details = explanationOf(error)
  return {
    type: 'error',
    error: {
      type: TYPES[error.failure] ?? OF_STATUSES[error.details.status ?? 0] ?? error.row.type,
      message: messageOf(error),
      ...(details ? { details } : {}),
    },
    ...(requestId === undefined ? {} : { request_id: requestId }),
  }
}

const encoder = new TextEncoder()

/** The event that ends a stream which failed after it began. */
export function messagesErrorEvent(error: GatewayError): Uint8Array {
  return encoder.encode(`event: error\ndata: ${JSON.stringify(messagesErrorBody(error))}\n\n`)
}

/** The refusal to count tokens at a provider that does not count them. Others are asked, or the tokens estimated. */
export function cannotCount(): GatewayError {
  return new GatewayError('not_supported', 'No deployment of this model can count tokens. Choose another model.', {
    param: 'model',
  })
}
