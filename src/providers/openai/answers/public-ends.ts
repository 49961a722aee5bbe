import { asciiBehind } from '../../../lib/bytes/latin1.ts'
import { asList, entryOf, isRecord, parseRecord } from '../../../lib/json/lenient.ts'
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
const WORD = /^\s*:\s*"(\w*)"/
const LONGEST_WORD = 64

/** The words by which the choices of a whole answer end, found without parsing it. */
export function endsIn(bytes: Uint8Array): readonly string[] {
  return asciiBehind(bytes, MEMBER, LONGEST_WORD).flatMap((text) => WORD.exec(text)?.[1] ?? [])
}

const encoder = new TextEncoder()

/** A whole answer whose choices end by chat's words. */
export function withPublicEnds(bytes: Uint8Array): Uint8Array {
  const answer = parseRecord(bytes)
  if (!answer) return bytes
  const choices = asList(answer.choices).map((choice) =>
    isRecord(choice) ? { ...choice, finish_reason: publicEnd(choice.finish_reason) } : choice,
  )
  return encoder.encode(JSON.stringify({ ...answer, choices }))
}
