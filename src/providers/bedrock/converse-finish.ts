import { GatewayError } from '../../lib/errors.ts'
import { asRecord, asText, entryOf } from '../../lib/json/lenient.ts'
import type { FinishReason } from '../../modes/chat-completion.ts'

const FINISHES: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
}

/** The stop sequence that ended an answer, if it was asked for. */
export function stoppedAt(additionalModelResponseFields: unknown): { readonly stop_reason?: string } {
  const sequence = asText(asRecord(additionalModelResponseFields).stop_sequence)
  return sequence === '' ? {} : { stop_reason: sequence }
}

/** The finish reason in the chat shape, or the failure if there is no usable answer. */
export function converseFinish(stopReason: unknown, hasContent: boolean): FinishReason | GatewayError {
  if (typeof stopReason === 'string' && stopReason.startsWith('malformed_')) {
    return new GatewayError('unusable_answer', 'The provider could not read what the model generated.')
  }
  const finish = entryOf(FINISHES, stopReason) ?? 'stop'
  if (finish !== 'content_filter' || hasContent) return finish
  return new GatewayError('content_policy', "The provider's content policy stopped the answer before it began.")
}
