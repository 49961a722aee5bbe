import { asMode } from '../../modes/mode.ts'
import { rerank as mode } from '../../modes/rerank.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

export const rerank = modelRoute(
  { path: '/v1/rerank', mode: asMode(mode), errorEvent: chatErrorEvent },
  {
    summary: 'Sort documents by how well they answer a query.',
    responses: { 200: { description: 'The ranking.', contentType: 'application/json' } },
  },
)
