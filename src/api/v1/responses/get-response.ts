import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { keptResponse, responseParams } from './kept.ts'

export const getResponse = defineRoute(
  {
    method: 'get',
    path: '/v1/responses/{response_id}',
    summary: 'A response that the gateway keeps, as it was answered.',
    tag: 'Models',
    auth: 'caller',
    params: responseParams,
    query: () =>
      z.object({
        stream: z.enum(['true', 'false']).optional().describe('Kept responses are not streamed again.'),
      }),
    responses: { 200: { description: 'The response.', contentType: 'application/json' } },
  },
  async ({ services, caller, input: { params, query } }) => {
    if (query.stream === 'true') {
      const message = 'stream: a kept response is complete. Leave it out, and it comes as a whole.'
      throw new GatewayError('invalid_request', message, { param: 'stream', code: 'unsupported_parameter' })
    }
    const { answer } = await keptResponse(services, caller(), params.response_id)
    return json(answer)
  },
)
