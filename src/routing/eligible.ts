import { GatewayError } from '../lib/errors.ts'
import type { ModelRequest } from '../modes/mode.ts'
import type { Deployment, Group } from './deployment.ts'

/** The deployments that have every requested tag, among those that are able to serve the mode. Throws if there are
 *  none. The shared store checks health and capacity. */
export function eligible(group: Group, able: readonly Deployment[], request: ModelRequest): readonly Deployment[] {
  if (able.length === 0) {
    throw new GatewayError('invalid_request', `The model '${group.name}' does not take requests of this kind.`, {
      param: 'model',
      code: 'unsupported_mode',
    })
  }
  const tags = request.metadata?.tags
  if (tags === undefined || tags === null) return able
  if (!Array.isArray(tags)) {
    throw new GatewayError('invalid_request', 'metadata.tags: must be a list of strings', { param: 'metadata.tags' })
  }
  const tagged = able.filter((deployment) => fits(deployment, request))
  if (tagged.length === 0) {
    throw new GatewayError(
      'no_matching_deployment',
      `No deployment of '${group.name}' has all of the requested tags.`,
      {
        param: 'metadata.tags',
      },
    )
  }
  return tagged
}

/** Whether a deployment has every tag that a request asks for. */
export function fits({ info }: Deployment, { metadata }: ModelRequest): boolean {
  const tags = metadata?.tags
  return !Array.isArray(tags) || tags.every((tag) => info.tags?.includes(tag))
}
