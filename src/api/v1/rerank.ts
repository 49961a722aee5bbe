import { asMode } from '../../modes/mode.ts'
import { rerank as mode } from '../../modes/rerank.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

const rerankAt = (path: string) =>
  modelRoute(
    { path, mode: asMode(mode), errorEvent: chatErrorEvent },
    {
      summary: 'Sort documents by how well they answer a query.',
      responses: { 200: { description: 'The ranking.', contentType: 'application/json' } },
    },
  )

export const rerank = rerankAt('/v1/rerank')

/** The gateway's own path, and those that the vendors' clients call. */
export const rerankRoutes = [rerank, rerankAt('/rerank'), rerankAt('/v2/rerank')]
