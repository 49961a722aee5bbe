import { chat } from '../../modes/chat.ts'
import { asMode } from '../../modes/mode.ts'
import { messagesErrorBody } from '../dialects/messages/errors.ts'
import { countTokensDialect, messagesDialect } from '../dialects/messages.ts'
import { modelRoute } from './model-route.ts'

/** Headers of this dialect's official clients, which are passed on to its provider. */
const clientHeaders = ['anthropic-version', 'anthropic-beta']
const contract = { errorBody: messagesErrorBody, credentialHeader: 'x-api-key', requestIdHeader: 'request-id' }

export const messages = modelRoute(
  {
    path: '/v1/messages',
    mode: asMode(chat),
    dialect: messagesDialect,
    errorEvent: messagesDialect.errorEvent,
    clientHeaders,
    cached: 'whole',
  },
  {
    summary: 'Answer a conversation in the shape of the Messages API, whole or as a stream of typed events.',
    responses: {
      200: {
        description: 'A message; server-sent events when `stream` is true.',
        contentType: ['application/json', 'text/event-stream'],
      },
    },
    ...contract,
  },
)

export const countTokens = modelRoute(
  {
    path: '/v1/messages/count_tokens',
    mode: asMode(chat),
    dialect: countTokensDialect,
    free: true,
    errorEvent: countTokensDialect.errorEvent,
    clientHeaders,
  },
  {
    summary:
      'Count the tokens of a conversation. Where no provider of the model can, they are estimated, and `x-gateway-estimated` is `1`.',
    responses: { 200: { description: '`input_tokens`', contentType: 'application/json' } },
    ...contract,
  },
)
