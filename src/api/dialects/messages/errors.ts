import { type FailureName, GatewayError } from '../../../lib/errors.ts'

/** Where this dialect has a type of its own for what went wrong; elsewhere the type is the same in both. */
const TYPES: Partial<Record<FailureName, string>> = {
  payload_too_large: 'request_too_large',
  budget_exceeded: 'billing_error',
  no_matching_deployment: 'overloaded_error',
  no_healthy_deployment: 'overloaded_error',
  no_capacity: 'overloaded_error',
  store_unavailable: 'overloaded_error',
  database_unavailable: 'overloaded_error',
  shutting_down: 'overloaded_error',
  upstream_timeout: 'timeout_error',
  call_timeout: 'timeout_error',
}

/** A failure in the shape that clients of the Messages API know. */
export function messagesErrorBody(error: GatewayError, requestId?: string): object {
  return {
    type: 'error',
    error: { type: TYPES[error.failure] ?? error.row.type, message: error.message },
    ...(requestId === undefined ? {} : { request_id: requestId }),
  }
}

const encoder = new TextEncoder()

/** The event that ends a stream which failed after it began. */
export function messagesErrorEvent(error: GatewayError): Uint8Array {
  return encoder.encode(`event: error\ndata: ${JSON.stringify(messagesErrorBody(error))}\n\n`)
}

/** There is no such thing as counting where a provider does not count. */
export function cannotCount(): GatewayError {
  return new GatewayError('not_supported', 'No deployment of this model can count tokens. Choose another model.', {
    param: 'model',
  })
}
