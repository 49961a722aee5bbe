import type { GatewayParams } from '../config/model-list.ts'
import { reveal, type Secret, secret } from '../lib/secret.ts'
import type { Connection } from './provider.ts'

/** Reads the parameters of a deployment whose key goes into `Authorization: Bearer`, or which has none. `usualBase` may
 *  hold `{project}`, which the operator's project takes the place of. */
export function bearerConnection(
  kind: string,
  usualBase: string | undefined,
  parameters: GatewayParams,
  defaults: Readonly<Record<string, unknown>>,
): Connection {
  const inAddress = usualBase?.includes('{project}') === true
  const base = parameters.api_base ?? (inAddress ? withProject(kind, usualBase, parameters.project) : usualBase)
  if (base === undefined) throw new TypeError(`provider '${kind}' needs gateway_params.api_base`)
  const url = new URL(base)
  const headers: Record<string, string | Secret> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    // Bodies are relayed as they come: nothing here decodes them.
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
  }
  if (parameters.organization !== undefined) headers['openai-organization'] = parameters.organization
  if (parameters.project !== undefined && !inAddress) headers['openai-project'] = parameters.project
  if (parameters.api_key) headers.authorization = secret(`Bearer ${reveal(parameters.api_key)}`)
  for (const [name, value] of Object.entries(parameters.headers ?? {})) headers[name.toLowerCase()] = value
  return {
    model: parameters.upstream_model,
    origin: url.origin,
    basePath: url.pathname.replace(/\/+$/, ''),
    headers,
    parameters,
    defaults,
  }
}

function withProject(kind: string, base: string, project: string | undefined): string {
  if (project === undefined) throw new TypeError(`provider '${kind}' needs gateway_params.project or api_base`)
  return base.replace('{project}', encodeURIComponent(project))
}
