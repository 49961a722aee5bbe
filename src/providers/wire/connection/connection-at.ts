import type { GatewayParams } from '../../../config/sections/model-list.ts'
import type { Secret } from '../../../lib/secret.ts'
import type { Connection } from '../../provider.ts'

/** A connection to a base address. Its headers are those for every vendor, then `own`, then the operator's. */
export function connectionAt(
  base: string,
  own: Readonly<Record<string, string | Secret | undefined>>,
  parameters: GatewayParams,
  defaults: Readonly<Record<string, unknown>>,
): Connection {
  const url = new URL(base)
  const headers: Record<string, string | Secret> = {
    // Bodies are relayed without decompression.
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
  }
  for (const [name, value] of Object.entries(own)) if (value !== undefined) headers[name] = value
  for (const [name, value] of Object.entries(parameters.headers ?? {})) headers[name.toLowerCase()] = value
  return {
    model: parameters.upstream_model,
    baseModel: parameters.base_model ?? parameters.upstream_model,
    origin: url.origin,
    basePath: url.pathname.replace(/\/+$/, ''),
    headers,
    parameters,
    defaults,
  }
}

/** The headers for vendors whose requests are JSON and whose answers are JSON or events. */
export const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const
