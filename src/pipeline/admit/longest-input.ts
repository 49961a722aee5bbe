import type { ModelRequest } from '../../modes/mode.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Endpoint } from '../endpoint.ts'

/** The most input tokens that a deployment's model reads for a request, whose inputs it reads one by one: infinite if
 *  the deployment does not say how long its input may be. */
export function longestInput({ mode }: Endpoint, request: ModelRequest, { info }: Pick<Deployment, 'info'>): number {
  const { max_input_tokens: longest } = info
  return longest === undefined ? Number.POSITIVE_INFINITY : longest * (mode.inputs?.(request) ?? 1)
}
