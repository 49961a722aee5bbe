import { type MessagesRequest, messagesRequest } from '../../modes/messages.ts'
import { asDialect } from '../../pipeline/translate/dialect.ts'
import { countTokensDefaults, messagesDefaults } from './default-field-names.ts'
import { cannotCount, messagesErrorEvent } from './messages/errors.ts'
import { messagesEvents } from './messages/event-stream.ts'
import { followMessages } from './messages/follow.ts'
import { fromChat } from './messages/from-chat.ts'
import { toChat } from './messages/to-chat.ts'
import { messagesIds } from './messages-ids.ts'

/** The Messages API: native at its own vendor, by way of chat everywhere else. */
export const messagesDialect = asDialect<MessagesRequest>({
  native: 'messages',
  schema: messagesRequest,
  ids: messagesIds,
  defaults: messagesDefaults,
  toChat,
  fromChat,
  stream: () => messagesEvents(),
  follow: followMessages,
  errorEvent: messagesErrorEvent,
})

/** Counting what a request of the Messages API would cost: only a provider that counts can say. */
export const countTokensDialect = asDialect<MessagesRequest>({
  native: 'count_tokens',
  schema: messagesRequest,
  ids: messagesIds,
  defaults: countTokensDefaults,
  toChat: () => {
    throw cannotCount()
  },
  fromChat: () => {
    throw cannotCount()
  },
  stream: () => messagesEvents(),
  errorEvent: messagesErrorEvent,
})
