import * as z from 'zod'
import { tenantOf } from '../../../pipeline/caller.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { keptResponse, responseParams } from './kept.ts'

export const deleteResponse = defineRoute(
  {
    method: 'delete',
    path: '/v1/responses/{response_id}',
    summary: 'Forget a response that the gateway keeps. Responses that continued it stay.',
    tag: 'Models',
    auth: 'caller',
    params: responseParams,
    responses: {
      200: {
        description: 'It is forgotten.',
        schema: () => z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) }),
      },
    },
  },
  async ({ services, caller, input }) => {
    const { response_id: id } = input.params
    const kept = await keptResponse(services, caller(), id)
    await services.responses.remove(tenantOf(caller()), id, kept)
    return json({ id, object: 'response', deleted: true })
  },
)
