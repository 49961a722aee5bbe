import { chat } from '../../modes/chat.ts'
import { asMode } from '../../modes/mode.ts'
import { chatDialect } from '../dialects/chat.ts'
import { modelRoute } from './model-route.ts'

export const chatCompletions = modelRoute(
  {
    path: '/v1/chat/completions',
    mode: asMode(chat),
    dialect: chatDialect,
    errorEvent: chatDialect.errorEvent,
    cached: 'whole',
  },
  {
    summary: 'Answer a conversation, whole or as a stream of events.',
    responses: {
      200: {
        description: 'A chat completion; server-sent events of chunks when `stream` is true.',
        contentType: ['application/json', 'text/event-stream'],
      },
    },
  },
)
