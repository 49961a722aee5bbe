import { chat } from '../../../modes/chat.ts'
import { asMode } from '../../../modes/mode.ts'
import { compactDialect } from '../../dialects/responses-operations.ts'
import { modelRoute } from '../model-route.ts'

export const compactResponse = modelRoute(
  {
    path: '/v1/responses/compact',
    mode: asMode(chat),
    dialect: compactDialect,
    errorEvent: compactDialect.errorEvent,
  },
  {
    summary: 'Have the model summarize a conversation. The answer holds an item that stands for it in a later `input`.',
    responses: { 200: { description: 'A compaction.', contentType: 'application/json' } },
  },
)
