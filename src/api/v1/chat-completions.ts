import { chat, chatRequest } from '../../modes/chat.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

export const chatCompletions = modelRoute({
  path: '/v1/chat/completions',
  summary: 'Answer a conversation, whole or as a stream of events.',
  mode: chat,
  body: chatRequest,
  responses: {
    200: { description: 'A chat completion; server-sent events of chunks when `stream` is true.' },
  },
  errorEvent: chatErrorEvent,
})
