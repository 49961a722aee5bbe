import { GatewayError } from '../../lib/errors.ts'
import type { ChatChunk, ChatCompletion } from '../../modes/chat-completion.ts'
import { clientNames } from '../../modes/field-table.ts'
import { type ResponsesRequest, responsesRequest } from '../../modes/responses.ts'
import { asDialect } from '../../pipeline/translate/dialect.ts'
import { responsesDefaults } from './default-field-names.ts'
import { prependToResponses } from './prepend.ts'
import { growingAnswer } from './responses/answer.ts'
import { errorFields } from './responses/error-fields.ts'
import { RESPONSES_FIELDS } from './responses/fields.ts'
import { responsesMemory } from './responses/memory.ts'
import { toChat } from './responses/request.ts'
import { responsesIds } from './responses-ids.ts'
import { responsesConversation } from './tools/responses-conversation.ts'

const encoder = new TextEncoder()

/** The Responses API: items in, items out, and a stream of numbered, typed events. What is answered by way of chat, the
 *  gateway keeps, as its client wants. */
export const responsesDialect = asDialect<ResponsesRequest>({
  native: 'responses',
  schema: responsesRequest,
  exactMembers: new Set(['parameters', 'schema']),
  defaults: responsesDefaults,
  ids: responsesIds,
  memory: responsesMemory,
  tools: responsesConversation,
  names: { ...clientNames(RESPONSES_FIELDS), verbosity: 'text.verbosity' },
  prepend: prependToResponses,
  toChat,
  fromChat(completion, request, facts) {
    const answer = growingAnswer(request, facts, () => {})
    answer.push(asChunk(completion))
    return answer.finish()
  },
  stream(request, call) {
    let text = ''
    let sequence_number = 0
    const answer = growingAnswer(request, call?.facts, (type, fields) => {
      text += eventText(type, { sequence_number: sequence_number++, ...fields })
    })
    const eventsOf = (act: () => unknown): Uint8Array => {
      text = ''
      act()
      return encoder.encode(text)
    }
    return {
      repeats: true,
      write: (chunk) => eventsOf(() => answer.push(chunk)),
      close: () => eventsOf(() => finished(answer)),
      fail: (failure) => eventsOf(() => answer.fail(failure)),
    }
  },
  errorEvent: (failure) => encoder.encode(eventText('error', { sequence_number: 0, ...errorFields(failure) })),
})

/** Ends an answer that its provider has completed; one that is of no use fails. */
function finished(answer: ReturnType<typeof growingAnswer>): void {
  try {
    answer.finish()
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    answer.fail(error)
  }
}

function eventText(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

/** A whole answer as one chunk. */
function asChunk({ id, created, model, choices, usage, service_tier }: ChatCompletion): ChatChunk {
  const first = (Array.isArray(choices) ? choices : []).slice(0, 1).map((choice) => {
    const calls: readonly object[] = Array.isArray(choice?.message?.tool_calls) ? choice.message.tool_calls : []
    const delta = { ...choice?.message, tool_calls: calls.map((call, index) => ({ ...call, index })) }
    return { index: 0, delta, finish_reason: choice?.finish_reason, logprobs: choice?.logprobs }
  })
  return { id, object: 'chat.completion.chunk', created, model, choices: first, usage: usage ?? null, service_tier }
}
