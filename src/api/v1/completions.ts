import { completion } from '../../modes/completion.ts'
import { asMode } from '../../modes/mode.ts'
import { completionsDialect } from '../dialects/completions.ts'
import { modelRoute } from './model-route.ts'

export const completions = modelRoute(
  {
    path: '/v1/completions',
    mode: asMode(completion),
    dialect: completionsDialect,
    errorEvent: completionsDialect.errorEvent,
    cached: 'whole',
  },
  {
    summary: 'Answer a prompt with text, whole or as a stream of events.',
    responses: {
      200: {
        description: 'A text completion; server-sent events of chunks when `stream` is true.',
        contentType: ['application/json', 'text/event-stream'],
      },
    },
  },
)
