import { GatewayError } from '../../lib/errors.ts'
import { entryOf } from '../../lib/json/lenient.ts'
import type { FinishReason } from '../../modes/chat-completion.ts'

const FINISHES: Readonly<Record<string, FinishReason>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
}

/** The finish reason in the chat shape, or the failure that it reports. */
export function cohereFinish(reason: unknown): FinishReason | GatewayError {
  if (reason === 'ERROR') return new GatewayError('upstream_failed', 'The provider failed while it answered.')
  if (reason === 'TIMEOUT') return new GatewayError('upstream_timeout', 'The provider took too long to answer.')
  if (reason === 'ERROR_TOXIC')
    return new GatewayError('content_policy', "The provider's content policy stopped the answer.")
  return entryOf(FINISHES, reason) ?? 'stop'
}
