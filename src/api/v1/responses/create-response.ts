import { chat } from '../../../modes/chat.ts'
import { asMode } from '../../../modes/mode.ts'
import { responsesDialect } from '../../dialects/responses.ts'
import { modelRoute } from '../model-route.ts'

export const createResponse = modelRoute(
  {
    path: '/v1/responses',
    mode: asMode(chat),
    dialect: responsesDialect,
    errorEvent: responsesDialect.errorEvent,
    cached: 'whole',
  },
  {
    summary: 'Answer an input of items, whole or as a stream of typed events.',
    responses: {
      200: {
        description: 'A response; server-sent events when `stream` is true.',
        contentType: ['application/json', 'text/event-stream'],
      },
    },
  },
)
