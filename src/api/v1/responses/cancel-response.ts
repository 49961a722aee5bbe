import { GatewayError } from '../../../lib/errors.ts'
import { defineRoute } from '../../route.ts'
import { keptResponse, responseParams } from './kept.ts'

export const cancelResponse = defineRoute(
  {
    method: 'post',
    path: '/v1/responses/{response_id}/cancel',
    summary: 'Refused for every response: none runs in the background. A client that leaves ends its own.',
    tag: 'Models',
    auth: 'caller',
    params: responseParams,
    responses: {},
  },
  async ({ services, caller, input }) => {
    await keptResponse(services, caller(), input.params.response_id)
    const message =
      'Only responses that run in the background can be cancelled, and the gateway runs none there: this one has ended.'
    throw new GatewayError('invalid_request', message, { param: 'response_id', code: 'response_not_cancellable' })
  },
)
