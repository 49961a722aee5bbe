import type { GatewayError } from '../../lib/errors.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Endpoint } from '../endpoint.ts'
import { refusalBy, translatorOf } from '../translate/translator.ts'

/** The deployments whose provider can express the whole request; where some keep an answer that its client wants kept,
 *  only those. If there is none, throws the first refusal. */
export function expressible(
  deployments: readonly Deployment[],
  endpoint: Endpoint,
  request: ModelRequest,
  strict = false,
): readonly Deployment[] {
  let refusal: GatewayError | undefined
  const able = deployments.filter((deployment) => {
    const refused = refusalBy(deployment, endpoint, request, strict)
    refusal ??= refused
    return !refused
  })
  if (able.length === 0 && refusal) throw refusal
  if (request.store !== true) return able
  const keepers = able.filter((deployment) => isNativeAt(deployment, endpoint))
  return keepers.length > 0 ? keepers : able
}

/** Whether a deployment is asked in the client's own dialect. */
export function isNativeAt(deployment: Deployment, { mode, dialect }: Endpoint): boolean {
  return translatorOf(deployment, mode, dialect)?.translates !== true
}
