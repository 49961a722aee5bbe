import type { GatewayParams } from '../../../config/sections/model-list.ts'
import { reveal, secret } from '../../../lib/secret.ts'
import type { Connection } from '../../provider.ts'
import { connectionAt, JSON_HEADERS } from './connection-at.ts'

/** The connection of a deployment whose key is sent as `Authorization: Bearer`, or which has no key. `{project}` in
 *  `usualBase` is replaced by the operator's project. */
export function bearerConnection(
  kind: string,
  usualBase: string | undefined,
  parameters: GatewayParams,
  defaults: Readonly<Record<string, unknown>>,
): Connection {
  const inAddress = usualBase?.includes('{project}') === true
  const base = parameters.api_base ?? (inAddress ? withProject(kind, usualBase, parameters.project) : usualBase)
  if (base === undefined) throw new TypeError(`provider '${kind}' needs gateway_params.api_base`)
  const { api_key, organization, project } = parameters
  const own = {
    ...JSON_HEADERS,
    'openai-organization': organization,
    'openai-project': inAddress ? undefined : project,
    authorization: api_key && secret(`Bearer ${reveal(api_key)}`),
  }
  return connectionAt(base, own, parameters, defaults)
}

function withProject(kind: string, base: string, project: string | undefined): string {
  if (project === undefined) throw new TypeError(`provider '${kind}' needs gateway_params.project or api_base`)
  return base.replace('{project}', encodeURIComponent(project))
}
