import { GatewayError } from '../../lib/errors.ts'
import { type ResponsesRequest, responsesRequest } from '../../modes/responses.ts'
import { asDialect } from '../../pipeline/translate/dialect.ts'
import { prependToResponses } from './prepend.ts'
import { compacted } from './responses/compaction.ts'
import { responsesMemory } from './responses/memory.ts'
import { toChat } from './responses/request.ts'
import { responsesDialect } from './responses.ts'
import { responsesIds } from './responses-ids.ts'

/** What these operations cannot do: only `/v1/responses` streams. */
function whole(): never {
  const details = { param: 'stream', code: 'unsupported_parameter' }
  throw new GatewayError('invalid_request', 'stream: this answer cannot be streamed. Leave it out.', details)
}

const shared = {
  native: undefined,
  schema: responsesRequest,
  ids: responsesIds,
  memory: responsesMemory,
  prepend: prependToResponses,
  stream: whole,
  errorEvent: responsesDialect.errorEvent,
} as const

/** Tells how many tokens an input is, by the gateway's estimate. */
export const inputTokensDialect = asDialect<ResponsesRequest>({
  ...shared,
  toChat,
  fromChat: whole,
  estimate: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
})

/** Makes one item of a conversation, with which it goes on. */
export const compactDialect = asDialect<ResponsesRequest>({
  ...shared,
  toChat: (request, drop) => (request.stream === true ? whole() : toChat(request, drop, true)),
  fromChat: compacted,
})
