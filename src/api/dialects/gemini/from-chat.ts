import { GatewayError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatCompletion, ThinkingBlock } from '../../../modes/chat-completion.ts'
import { callArguments } from '../../../providers/wire/call-arguments.ts'
import { type ContentFields, contentFields } from '../content-fields.ts'
import { showsThoughts } from './generation-config.ts'
import type { GenerateContentRequest } from './schema.ts'
import { thoughtSignature } from './sealed-thinking.ts'
import { finishReason, logprobsResult, pictureParts, usageMetadata } from './wire.ts'

/** A chat completion as an answer of generateContent. */
export function fromChat({ id, model, choices, usage }: ChatCompletion, request: GenerateContentRequest): object {
  const given = Array.isArray(choices) ? choices : []
  if (!given[0]?.message) throw new GatewayError('upstream_malformed', "The provider's answer has no choice.")
  const shows = showsThoughts(request)
  return {
    candidates: given.map((choice, index) => candidateOf(choice, index, shows)),
    usageMetadata: usageMetadata(usage),
    modelVersion: model,
    responseId: id,
  }
}

function candidateOf(choice: ChatCompletion['choices'][number], index: number, shows: boolean): JsonRecord {
  const { message, finish_reason, logprobs } = choice
  const fields = contentFields(message)
  const { content, refusal, reasoning_content } = fields
  const asked = fields.tool_calls.filter(isRecord)
  const calls = asked.map(functionCall).filter((call) => call !== undefined)
  // A client would run an incomplete call. `length` tells it that the limit of tokens has cut the answer.
  if (calls.length < asked.length && finish_reason !== 'length') {
    throw new GatewayError('unusable_answer', "The arguments of the model's tool call are not JSON.")
  }
  const parts = [
    ...(shows && reasoning_content !== '' ? [{ text: reasoning_content, thought: true }] : []),
    ...textParts(content),
    ...textParts(refusal),
    ...pictureParts(message),
    ...calls,
  ]
  return {
    content: { parts: signed(parts, signatureOf(fields, calls.length > 0)), role: 'model' },
    finishReason: refusal === '' ? finishReason(finish_reason) : 'SAFETY',
    index,
    ...logprobsResult(logprobs),
  }
}

const textParts = (text: string): JsonRecord[] => (text === '' ? [] : [{ text }])

/** The reasoning that a later turn has to repeat. What its vendor did not sign is repeated beside calls only. Calls have a
 *  signature even without any: Gemini, which may have the next turn, refuses calls that have none. */
export function signatureOf(
  { thinking_blocks, reasoning_content }: Pick<ContentFields, 'thinking_blocks' | 'reasoning_content'>,
  hasCalls: boolean,
): string | undefined {
  const unsigned: readonly ThinkingBlock[] =
    hasCalls && reasoning_content !== '' ? [{ type: 'thinking', thinking: reasoning_content }] : []
  const blocks = thinking_blocks.length > 0 ? thinking_blocks : unsigned
  return blocks.length > 0 || hasCalls ? thoughtSignature(blocks) : undefined
}

/** The parts with a signature on the first call, else on the last part. An answer is never without a part: clients take
 *  one without for broken. */
export function signed(parts: readonly JsonRecord[], signature: string | undefined): readonly JsonRecord[] {
  const given = parts.length === 0 ? [{ text: '' }] : parts
  if (signature === undefined) return given
  const first = given.findIndex((part) => part.functionCall !== undefined)
  const place = first === -1 ? given.length - 1 : first
  return given.map((part, index) => (index === place ? { ...part, thoughtSignature: signature } : part))
}

/** A call of a function as a part; undefined if its arguments are no object. Makes an id where a vendor leaves it out. */
export function functionCall({ id, function: called }: JsonRecord): JsonRecord | undefined {
  const { name, arguments: written } = asRecord(called)
  const args = callArguments(written)
  return args && { functionCall: { id: asText(id) || newId('call'), name: asText(name), args } }
}
