import type { GatewayError } from '../../lib/errors.ts'
import { type CohereChatRequest, cohereChatRequest } from '../../modes/cohere/chat.ts'
import { clientNames } from '../../modes/field-table.ts'
import { asDialect } from '../../pipeline/translate/dialect.ts'
import { errorBody } from '../failures.ts'
import { cohereErrorEvent, cohereEvents } from './cohere/event-stream.ts'
import { COHERE_FIELDS } from './cohere/fields.ts'
import { fromChat } from './cohere/from-chat.ts'
import { toChat } from './cohere/to-chat.ts'
import { cohereDefaults } from './default-field-names.ts'
import { prependToChat } from './prepend.ts'

/** Cohere's chat, version 2: native at its own vendor, translated by way of chat for every other. */
export const cohereDialect = asDialect<CohereChatRequest>({
  native: 'cohere_chat',
  schema: cohereChatRequest,
  exactMembers: new Set(['data', 'parameters', 'json_schema', 'schema']),
  defaults: cohereDefaults,
  names: clientNames(COHERE_FIELDS),
  prepend: prependToChat,
  toChat,
  fromChat,
  stream: cohereEvents,
  errorEvent: cohereErrorEvent,
})

/** A failure as Cohere's clients read it, with what every path of the gateway says of it. */
export function cohereErrorBody(error: GatewayError, requestId?: string): object {
  return { ...(requestId === undefined ? {} : { id: requestId }), message: error.message, ...errorBody(error) }
}
