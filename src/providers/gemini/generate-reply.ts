import { GatewayError } from '../../lib/errors.ts'
import { exactRecord } from '../../lib/json/exact-json.ts'
import { boundForeign } from '../../lib/json/json-bounds.ts'
import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatCompletion } from '../../modes/chat-completion.ts'
import type { Outgoing, Reply } from '../provider.ts'
import { wireUsage } from '../wire/wire-usage.ts'
import { blocked, candidateReader } from './candidate.ts'
import { geminiUsage } from './gemini-usage.ts'
import { googleFailureIn } from './google-failure.ts'
import { logprobsOf } from './logprobs.ts'

type Choice = ChatCompletion['choices'][number]

const decoder = new TextDecoder()

/** Reads a whole answer of generateContent as a chat completion. */
export function generateReply(bytes: Uint8Array, headers: Readonly<Record<string, string>>, call: Outgoing): Reply {
  const answer = exactRecord(bytes) ?? firstOf(bytes)
  const failure = failureIn(answer)
  if (failure) throw failure
  const candidates = asList(answer.candidates).map(asRecord)
  if (candidates.length === 0) {
    throw new GatewayError('unusable_answer', "The provider's answer has no candidates.")
  }
  const responseId = asText(answer.responseId)
  const usage = geminiUsage(answer.usageMetadata, headers)
  let outputCharacters = 0
  const choices = candidates.map((candidate, index): Choice => {
    const reader = candidateReader(index === 0 ? responseId : `${responseId}_${index}`)
    const { delta, characters } = reader.read(candidate)
    outputCharacters += characters
    const finish = reader.finish(candidate)
    // The vendor calls a candidate without a reason one that goes on.
    if (finish === undefined && Object.keys(delta).length === 0) {
      throw new GatewayError('unusable_answer', "The provider's answer is empty and has no end.")
    }
    const { tool_calls, content = null, ...more } = delta
    const calls = tool_calls?.map(({ index: _, ...rest }) => rest) as Choice['message']['tool_calls']
    const logprobs = logprobsOf(candidate)
    return {
      index,
      message: { role: 'assistant', content, ...more, ...(calls ? { tool_calls: calls } : {}) },
      finish_reason: finish ?? 'stop',
      ...(logprobs ? { logprobs } : {}),
    }
  })
  const completion: ChatCompletion = {
    id: identityOf(responseId),
    object: 'chat.completion',
    created: 0,
    model: asText(answer.modelVersion) || call.body.model,
    choices,
    ...(usage ? { usage: wireUsage(usage) } : {}),
  }
  return { completion, usage, outputCharacters }
}

/** The failure in a document or an event: an error, or a blocked prompt. */
export function failureIn(answer: JsonRecord): GatewayError | undefined {
  const failure = googleFailureIn(answer)
  if (failure) return failure
  const { blockReason, blockReasonMessage } = asRecord(answer.promptFeedback)
  return typeof blockReason === 'string' ? blocked(blockReason, blockReasonMessage) : undefined
}

export function identityOf(responseId: string): string {
  return responseId === '' ? '' : `chatcmpl-${responseId}`
}

/** The first entry of an answer that is a list, as some errors are. */
function firstOf(bytes: Uint8Array): JsonRecord {
  try {
    boundForeign(bytes)
    const [first] = asList(JSON.parse(decoder.decode(bytes)))
    return asRecord(first)
  } catch {
    throw new GatewayError('upstream_malformed', "The provider's answer is not JSON.")
  }
}
