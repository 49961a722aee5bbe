import { chat } from '../../modes/chat.ts'
import { cohereEmbed as embedding } from '../../modes/cohere/embed.ts'
import { asMode } from '../../modes/mode.ts'
import { cohereDialect, cohereErrorBody } from '../dialects/cohere.ts'
import { modelRoute } from './model-route.ts'

/** Its clients send their key in Authorization alone. */
const contract = { errorBody: cohereErrorBody, credentialHeader: [] }

export const cohereChat = modelRoute(
  {
    path: '/v2/chat',
    mode: asMode(chat),
    dialect: cohereDialect,
    errorEvent: cohereDialect.errorEvent,
    cached: 'whole',
  },
  {
    summary: "Answer a conversation in the shape of Cohere's chat, whole or as a stream of typed events.",
    responses: {
      200: {
        description: 'An answer; server-sent events when `stream` is true.',
        contentType: ['application/json', 'text/event-stream'],
      },
    },
    ...contract,
  },
)

export const cohereEmbed = modelRoute(
  { path: '/v2/embed', mode: asMode(embedding), errorEvent: cohereDialect.errorEvent },
  {
    summary: "Turn texts into vectors, in the shape of Cohere's API.",
    responses: { 200: { description: 'The vectors, by type.', contentType: 'application/json' } },
    ...contract,
  },
)
