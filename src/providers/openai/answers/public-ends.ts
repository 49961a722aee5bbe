import { eachBegins } from '../../../lib/bytes/latin1.ts'
import { asList, asRecord, entryOf, isRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { FinishReason } from '../../../modes/chat-completion.ts'

/** The words of some vendors for the ends of answers that chat has words for: of Together and Text Generation Inference, of
 *  Mistral, of Z.ai, and of other dialects. */
const ENDS: Readonly<Record<string, FinishReason>> = {
  eos: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  end_turn: 'stop',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  max_tokens: 'length',
  sensitive: 'content_filter',
  tool_use: 'tool_calls',
}

/** Chat's word for the end of an answer; the vendor's own where chat has none. */
export const publicEnd = (reason: unknown): unknown => entryOf(ENDS, reason) ?? reason

const MEMBER = '"finish_reason"'
const USUAL = /^\s*:\s*("(stop|length|tool_calls|function_call|content_filter)"|null)/
/** The longest of them, among spaces. */
const LENGTH = 40

/** Whether all choices of a long answer end by chat's words, found without parsing it. */
export const endsUsually = (bytes: Uint8Array): boolean => eachBegins(bytes, MEMBER, LENGTH, USUAL)

/** Whether a choice ends by a word for which chat has its own. */
export function endsUnusually(choice: unknown): boolean {
  const { finish_reason: end } = asRecord(choice)
  return publicEnd(end) !== end
}

const encoder = new TextEncoder()

/** A whole answer whose choices end by chat's words where it has any. */
export function withPublicEnds(bytes: Uint8Array): Uint8Array {
  const answer = parseRecord(bytes)
  const choices = asList(answer?.choices).map((choice) =>
    isRecord(choice) ? { ...choice, finish_reason: publicEnd(choice.finish_reason) } : choice,
  )
  return encoder.encode(JSON.stringify({ ...answer, choices }))
}
