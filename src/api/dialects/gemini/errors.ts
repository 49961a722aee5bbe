import { GatewayError } from '../../../lib/errors.ts'
import { geminiEvent } from './event-stream.ts'

/** The words of google.rpc.Code for the statuses that the gateway answers with. */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  508: 'FAILED_PRECONDITION',
}

const type = (name: string) => `type.googleapis.com/google.rpc.${name}`

/** The error body of Google's APIs. The gateway's own code is the reason of its ErrorInfo. */
export function geminiErrorBody(error: GatewayError): object {
  const { status, message, details, row, failure } = error
  const { param, retryAfterSeconds = row.retryAfterSeconds } = details
  return {
    error: {
      code: status,
      message,
      status: STATUSES[status] ?? 'UNKNOWN',
      details: [
        {
          '@type': type('ErrorInfo'),
          reason: (error.code ?? failure).toUpperCase(),
          domain: 'gateway',
          metadata: { type: row.type, ...(param === undefined ? {} : { param }) },
        },
        ...(param !== undefined && status === 400
          ? [{ '@type': type('BadRequest'), fieldViolations: [{ field: param, description: message }] }]
          : []),
        ...(retryAfterSeconds !== undefined
          ? [{ '@type': type('RetryInfo'), retryDelay: `${Math.max(1, Math.ceil(retryAfterSeconds))}s` }]
          : []),
      ],
    },
  }
}

/** Why a vendor blocks a prompt, in words of the API that its refusals may repeat. */
const BLOCK_REASON = /\b(SAFETY|BLOCKLIST|PROHIBITED_CONTENT|IMAGE_SAFETY|MODEL_ARMOR|JAILBREAK)\b/

/** The answer to a prompt that was blocked: in this dialect that is no error. */
export function blockedAnswer({ message }: GatewayError): object {
  const blockReason = BLOCK_REASON.exec(message)?.[1] ?? 'OTHER'
  return { promptFeedback: { blockReason, blockReasonMessage: message } }
}

/** The event that ends a stream which failed after it began. */
export function geminiErrorEvent(error: GatewayError): Uint8Array {
  return geminiEvent(error.failure === 'content_policy' ? blockedAnswer(error) : geminiErrorBody(error))
}

/** The refusal to count tokens at a provider that does not count them. Others are asked, or the tokens estimated. */
export function cannotCount(): GatewayError {
  return new GatewayError('not_supported', 'No deployment of this model can count tokens. Choose another model.', {
    param: 'model',
  })
}
