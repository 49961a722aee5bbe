import { asRecord } from '../../lib/json/lenient.ts'
import { clientNames, prefixed } from '../../modes/field-table.ts'
import { type MessagesRequest, messagesRequest } from '../../modes/messages.ts'
import { asDialect } from '../../pipeline/translate/dialect.ts'
import { countTokensDefaults, messagesDefaults } from './default-field-names.ts'
import { cannotCount, messagesErrorEvent } from './messages/errors.ts'
import { messagesEvents } from './messages/event-stream.ts'
import { MESSAGES_FIELDS, OUTPUT_FIELDS } from './messages/fields.ts'
import { followMessages } from './messages/follow.ts'
import { fromChat } from './messages/from-chat.ts'
import { toChat } from './messages/to-chat.ts'
import { messagesIds } from './messages-ids.ts'
import { prependToMessages } from './prepend.ts'

const NAMES = clientNames({ ...MESSAGES_FIELDS, ...prefixed('output_config', OUTPUT_FIELDS) })
/** An effort goes before a budget of thoughts. */
const NAMES_WITH_EFFORT = { ...NAMES, reasoning_effort: 'output_config.effort' }
const isSet = (value: unknown) => value !== undefined && value !== null

/** The Messages API: native at its own vendor, translated by way of chat for every other. */
export const messagesDialect = asDialect<MessagesRequest>({
  native: 'messages',
  schema: messagesRequest,
  exactMembers: new Set(['input', 'input_schema', 'schema']),
  ids: messagesIds,
  defaults: messagesDefaults,
  names: ({ output_config }) => (isSet(asRecord(output_config).effort) ? NAMES_WITH_EFFORT : NAMES),
  prepend: prependToMessages,
  toChat,
  fromChat,
  stream: ({ stop_sequences }, call) =>
    messagesEvents({ stopSequences: stop_sequences, likelyInput: call?.likelyInput }),
  follow: followMessages,
  errorEvent: messagesErrorEvent,
})

/** Counts the tokens of a Messages request where its provider does, and estimates them elsewhere. */
export const countTokensDialect = asDialect<MessagesRequest>({
  native: 'count_tokens',
  schema: messagesRequest,
  ids: messagesIds,
  defaults: countTokensDefaults,
  prepend: prependToMessages,
  toChat: () => {
    throw cannotCount()
  },
  fromChat: () => {
    throw cannotCount()
  },
  stream: () => messagesEvents(),
  estimate: (tokens) => ({ input_tokens: tokens }),
  errorEvent: messagesErrorEvent,
})
