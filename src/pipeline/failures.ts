import { asGatewayError, GatewayError } from '../lib/errors.ts'
import { BodyTooLarge, RequestsSpent, TransportError } from '../transport/transport.ts'
import { asFormFailure } from './request/incoming-form.ts'

/** The failure of a call whose deadline has passed, where no deployment is to blame. */
export function callTimeout(): GatewayError {
  return new GatewayError('call_timeout', 'The call took too long in total.')
}

/** Classifies an error from building the upstream request. Such an error is the client's or the gateway's and blames no
 *  deployment. */
export function asRequestFailure(error: unknown): GatewayError {
  // JSON of any depth can be parsed, but writing it recurses on the stack.
  if (!(error instanceof RangeError)) return asGatewayError(error)
  return new GatewayError('invalid_request', 'The request body is nested too deeply for this model.', {
    code: 'nested_too_deeply',
    cause: error,
  })
}

/** Some servers drop the connection on requests that are too long, so a longer one shares the blame. */
const LONG_REQUEST_BYTES = 1024 * 1024

/** The system's words where a process, or the machine, may open nothing more: the far end was not asked. */
const NO_DESCRIPTOR: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE'])

const codeOf = (cause: unknown) => (cause as { readonly code?: unknown } | undefined)?.code

/** Classifies anything thrown during an upstream request of `sentBytes` bytes. */
export function asUpstreamFailure(error: unknown, sentBytes = 0): GatewayError {
  const ofForm = asFormFailure(error)
  if (ofForm) return ofForm
  if (error instanceof RequestsSpent) {
    const message = 'The call took more requests than one may make here. Use fewer retries, fallbacks or tools.'
    return new GatewayError('overloaded', message, { code: 'too_many_subrequests', cause: error })
  }
  if (error instanceof TransportError && NO_DESCRIPTOR.has(codeOf(error.cause))) {
    const message = 'The gateway has too many open connections for another one. Retry later.'
    return new GatewayError('overloaded', message, { code: 'too_many_open_files', retryAfterSeconds: 1, cause: error })
  }
  if (error instanceof TransportError) {
    const blames = sentBytes < LONG_REQUEST_BYTES ? {} : ({ blames: 'perhaps' } as const)
    return new GatewayError('upstream_unreachable', 'The connection to the provider failed.', {
      ...blames,
      cause: error,
    })
  }
  if (error instanceof BodyTooLarge || error instanceof RangeError) {
    const message = "The provider's answer to this request is larger than the gateway holds: ask for less at once."
    return new GatewayError('answer_too_large', message, { cause: error })
  }
  return new GatewayError('upstream_malformed', "The provider's answer could not be read.", { cause: error })
}
