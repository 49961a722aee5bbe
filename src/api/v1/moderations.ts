import { asMode } from '../../modes/mode.ts'
import { moderation } from '../../modes/moderation.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

export const moderations = modelRoute(
  {
    path: '/v1/moderations',
    mode: asMode(moderation),
    errorEvent: chatErrorEvent,
    edit: ({ model }) => ({ model: model ?? 'omni-moderation-latest' }),
  },
  {
    summary: 'Judge whether texts and images are harmful.',
    responses: { 200: { description: 'A judgement for each input.', contentType: 'application/json' } },
  },
)
