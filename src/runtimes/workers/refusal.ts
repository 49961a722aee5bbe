import { failureAnswer } from '../../api/failures.ts'
import { toResponse } from '../../api/respond.ts'
import { GatewayError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { describeError, jsonLog } from '../../lib/log.ts'

/** The answer of a worker with an invalid configuration, in the usual error shape. The mistakes are only logged. */
export function refusal(error: unknown, write: (line: string) => void): Response {
  const requestId = newId('req')
  logMisconfigured(error, write, { requestId })
  const failure = new GatewayError('internal', 'The gateway is misconfigured. Its log says what to change.', {
    code: 'misconfigured',
    headers: { 'x-request-id': requestId },
  })
  return toResponse(failureAnswer(failure))
}

export function logMisconfigured(error: unknown, write: (line: string) => void, fields: object = {}): void {
  jsonLog('error', write).error('misconfigured', { ...fields, error: describeError(error) })
}
