import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import { classifyFailure, openaiEmbeddedFailure } from './failure.ts'

/** Codes of errors that are the request's fault. */
const CLIENT_FAULT = /^(context_length|invalid_|image_|unsupported_|empty_|failed_to_download)/
const ENDS = { failed: 'failed', cancelled: 'was cancelled' } as const
const POLICY = /^invalid_prompt$|_policy(_violation)?$/

/** The failure in a response of status 200. */
export function responsesFailure(response: JsonRecord): GatewayError | undefined {
  if (response.error !== undefined && response.error !== null) return responsesErrorFailure(response.error)
  const { status } = response
  if (status === 'failed' || status === 'cancelled')
    return openaiEmbeddedFailure({ message: `The response ${ENDS[status]}.` })
  const { reason } = asRecord(response.incomplete_details)
  const silent = asList(response.output).every((item) => asText(asRecord(item).type) === 'reasoning')
  if (status !== 'incomplete' || reason !== 'content_filter' || !silent) return undefined
  return new GatewayError('content_policy', "The provider's content filter withheld the answer.")
}

/** Names the error of a response or of an error event. */
export function responsesErrorFailure(error: unknown): GatewayError {
  const { code, message, type, param } = asRecord(error)
  const words = (value: unknown) => asText(value) || undefined
  if (POLICY.test(asText(code))) {
    return new GatewayError('content_policy', asText(message) || "The provider's policy withheld the answer.")
  }
  if (!CLIENT_FAULT.test(asText(code))) return openaiEmbeddedFailure(error)
  const wire = { message: words(message), type: words(type), code: words(code), param: words(param) }
  return classifyFailure(400, wire, undefined)
}
