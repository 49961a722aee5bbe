import { GatewayError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { asList, asRecord, asText, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import type { FinishReason, ThinkingBlock, ToolCallDelta } from '../../modes/chat-completion.ts'
import { signedBlock, signedContent } from './thought-signature.ts'

/** What one piece of a candidate adds to the answer. */
interface CandidateDelta {
  content?: string
  reasoning_content?: string
  thinking_blocks?: ThinkingBlock[]
  tool_calls?: ToolCallDelta[]
  /** Generated images, as `image_url` parts with data: addresses. */
  images?: JsonRecord[]
}

export interface CandidateReader {
  /** Reads a candidate, or the next piece of one; `behind` follows the words of the delta. */
  read(candidate: JsonRecord): {
    readonly delta: CandidateDelta
    readonly behind?: CandidateDelta
    readonly characters: number
  }
  /** The finish reason; undefined while the candidate continues. Throws if the provider calls the answer unusable. */
  finish(candidate: JsonRecord): FinishReason | undefined
}

const FILTERED = 'content_filter'

const FINISHES: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  // More would come to a client that asks for it, which only the vendor's own can.
  CONTINUATION: 'length',
  SAFETY: FILTERED,
  RECITATION: FILTERED,
  BLOCKLIST: FILTERED,
  PROHIBITED_CONTENT: FILTERED,
  SPII: FILTERED,
  MODEL_ARMOR: FILTERED,
  IMAGE_SAFETY: FILTERED,
  IMAGE_PROHIBITED_CONTENT: FILTERED,
  IMAGE_RECITATION: FILTERED,
}

/** The model failed to complete its answer; another attempt may succeed. */
const UNUSABLE = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'LANGUAGE',
  'NO_IMAGE',
  'IMAGE_OTHER',
  'OTHER',
])

/** Reads one candidate of an answer, whole or in pieces, including the signatures that later turns have to repeat. */
export function candidateReader(responseId: string): CandidateReader {
  let calls = 0
  let hasContent = false
  let hasWords = false
  /** The thought that the next signature is of. */
  let thought = ''

  const callOf = (call: JsonRecord): ToolCallDelta => {
    const index = calls++
    const id = asText(call.id) || (responseId === '' ? newId('call') : `call_${responseId}_${index}`)
    const written = { name: asText(call.name), arguments: JSON.stringify(asRecord(call.args)) }
    return { index, id, type: 'function', function: written }
  }

  /** Adds a part to a delta. Returns its characters. */
  const add = (part: JsonRecord, delta: CandidateDelta): number => {
    const signature = asText(part.thoughtSignature)
    const text = asText(part.text)
    let characters = text.length
    if (part.thought === true) {
      thought += text
      if (text !== '') delta.reasoning_content = (delta.reasoning_content ?? '') + text
    } else if (text !== '') {
      delta.content = (delta.content ?? '') + text
    }
    if (part.functionCall) {
      const call = callOf(asRecord(part.functionCall))
      characters += (call.function?.name?.length ?? 0) + (call.function?.arguments?.length ?? 0)
      const signed = signature === '' ? call : { ...call, extra_content: signedContent(signature) }
      delta.tool_calls = [...(delta.tool_calls ?? []), signed]
    }
    if (part.inlineData) delta.images = [...(delta.images ?? []), pictureOf(asRecord(part.inlineData))]
    if (signature !== '') {
      delta.thinking_blocks = [...(delta.thinking_blocks ?? []), signedBlock(thought, signature)]
      thought = ''
    }
    return characters
  }

  return {
    read(candidate) {
      const delta: CandidateDelta = {}
      let characters = 0
      for (const part of asList(asRecord(candidate.content).parts)) characters += add(asRecord(part), delta)
      hasContent ||= delta.content !== undefined || delta.tool_calls !== undefined || delta.images !== undefined
      if (delta.content === undefined) return { delta, characters }
      // The signature of words comes with the last of them, and would cut them in two.
      const cuts = hasWords && delta.thinking_blocks !== undefined
      hasWords = true
      thought = ''
      if (!cuts) return { delta, characters }
      const { content, ...behind } = delta
      return { delta: { content }, behind, characters }
    },

    finish({ finishReason, finishMessage }) {
      if (typeof finishReason !== 'string') return undefined
      if (UNUSABLE.has(finishReason)) {
        throw new GatewayError('unusable_answer', `The model did not complete its answer (${finishReason}).`)
      }
      if (finishReason === 'MISSING_THOUGHT_SIGNATURE') {
        throw new GatewayError('upstream_rejected', asText(finishMessage) || 'A thought signature is missing.')
      }
      const finish = entryOf(FINISHES, finishReason) ?? 'stop'
      if (finish === FILTERED && !hasContent) throw blocked(finishReason, finishMessage)
      return finish === 'stop' && calls > 0 ? 'tool_calls' : finish
    },
  }
}

/** The failure of an answer that the provider's filters blocked before it began. */
export function blocked(reason: string, message: unknown): GatewayError {
  const why = asText(message)
  const words = `The provider's safety filters blocked the answer (${reason}).`
  return new GatewayError('content_policy', why === '' ? words : `${words} ${why}`)
}

function pictureOf({ mimeType, data }: JsonRecord): JsonRecord {
  return { type: 'image_url', image_url: { url: `data:${asText(mimeType)};base64,${asText(data)}` } }
}
