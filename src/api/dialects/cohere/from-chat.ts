import { GatewayError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatCompletion, FinishReason, WireUsage } from '../../../modes/chat-completion.ts'
import { contentFields } from '../content-fields.ts'

const FINISHES: Readonly<Record<FinishReason, string>> = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  tool_calls: 'TOOL_CALL',
  function_call: 'TOOL_CALL',
  content_filter: 'ERROR',
}

export const finishOf = (reason: FinishReason | null | undefined): string => FINISHES[reason ?? 'stop'] ?? 'COMPLETE'

/** The usage as Cohere reports it: what is billed, and all tokens. */
export function cohereUsage(usage: WireUsage | null | undefined): { readonly usage?: object } {
  if (!usage) return {}
  const tokens = { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens }
  const cached = usage.prompt_tokens_details?.cached_tokens
  return { usage: { billed_units: tokens, tokens, ...(cached === undefined ? {} : { cached_tokens: cached }) } }
}

/** A chat completion as an answer of Cohere's chat. */
export function fromChat({ id, choices, usage }: ChatCompletion): object {
  const [choice] = Array.isArray(choices) ? choices : []
  if (!choice?.message) throw new GatewayError('upstream_malformed', "The provider's answer has no choice.")
  const { content, refusal, reasoning_content, tool_calls } = contentFields(choice.message)
  const calls = tool_calls.filter(isRecord).map(callOf)
  const text = content + refusal
  const isPlan = calls.length > 0 && reasoning_content !== ''
  const thoughts = isPlan || reasoning_content === '' ? [] : [{ type: 'thinking', thinking: reasoning_content }]
  const parts = [...thoughts, ...(text === '' ? [] : [{ type: 'text', text }])]
  return {
    id,
    finish_reason: calls.length > 0 && choice.finish_reason !== 'length' ? 'TOOL_CALL' : finishOf(choice.finish_reason),
    message: {
      role: 'assistant',
      ...(isPlan ? { tool_plan: reasoning_content } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      ...(parts.length > 0 || calls.length === 0 ? { content: parts } : {}),
    },
    ...cohereUsage(usage),
  }
}

/** Makes an id where a vendor leaves it out: the client refers to it in the call's result. */
function callOf({ id, function: called }: JsonRecord): object {
  const { name, arguments: given } = asRecord(called)
  const written = typeof given === 'string' ? given : JSON.stringify(given ?? {})
  return {
    id: asText(id) || newId('call'),
    type: 'function',
    function: { name: asText(name), arguments: written || '{}' },
  }
}
