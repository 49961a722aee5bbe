import { embedding } from '../../modes/embedding.ts'
import { asMode } from '../../modes/mode.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

export const embeddings = modelRoute(
  { path: '/v1/embeddings', mode: asMode(embedding), errorEvent: chatErrorEvent, cached: 'inputs' },
  {
    summary: 'Turn texts into vectors.',
    responses: { 200: { description: 'The vectors, as numbers or base64.', contentType: 'application/json' } },
  },
)
