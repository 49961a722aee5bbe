import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { type Caller, tenantOf } from '../../../pipeline/caller.ts'
import type { KeptResponse } from '../../../pipeline/memory/kept-responses.ts'
import { responseKey } from '../../../stores/kv/keys.ts'
import type { ApiServices } from '../../scope.ts'

export const responseParams = () => z.object({ response_id: z.string().max(512) })

/** A response that the gateway keeps for the caller's tenant. Throws the same 404 for another tenant's and an unknown
 *  one. */
export async function keptResponse(services: ApiServices, caller: Caller, id: string): Promise<KeptResponse> {
  const tenant = tenantOf(caller)
  const [text] = await services.store.getAll([responseKey(tenant.name, id)])
  if (text === null) {
    const message = 'The store of responses is away. Try again.'
    throw new GatewayError('store_unavailable', message, { param: 'response_id', retryAfterSeconds: 1 })
  }
  const found = text === undefined ? undefined : await services.responses.read(tenant, id, text)
  if (found) return found
  throw new GatewayError(
    'not_found',
    `Response with id '${id.slice(0, 100)}' not found. The gateway keeps what translated models answered with \`store\`, for a time; what a provider of Responses answered, that provider keeps.`,
    { param: 'response_id', code: 'response_not_found' },
  )
}
