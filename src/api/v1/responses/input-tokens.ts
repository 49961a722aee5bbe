import { chat } from '../../../modes/chat.ts'
import { asMode } from '../../../modes/mode.ts'
import { inputTokensDialect } from '../../dialects/responses-operations.ts'
import { modelRoute } from '../model-route.ts'

export const inputTokens = modelRoute(
  {
    path: '/v1/responses/input_tokens',
    mode: asMode(chat),
    dialect: inputTokensDialect,
    free: true,
    errorEvent: inputTokensDialect.errorEvent,
  },
  {
    summary: 'Estimate the tokens of an input of items. `x-gateway-estimated` is `1`.',
    responses: { 200: { description: '`input_tokens`', contentType: 'application/json' } },
  },
)
