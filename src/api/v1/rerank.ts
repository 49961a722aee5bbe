import { asMode } from '../../modes/mode.ts'
import { rerank } from '../../modes/rerank.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

/** The gateway's own path, and those that the vendors' clients call. */
export const rerankRoutes = ['/v1/rerank', '/rerank', '/v2/rerank'].map((path) =>
  modelRoute(
    { path, mode: asMode(rerank), errorEvent: chatErrorEvent },
    {
      summary: 'Sort documents by how well they answer a query.',
      responses: { 200: { description: 'The ranking.', contentType: 'application/json' } },
    },
  ),
)
