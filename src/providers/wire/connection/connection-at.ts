import type { GatewayParams } from '../../../config/sections/model-list.ts'
import type { Secret } from '../../../lib/secret.ts'
import type { Connection } from '../../provider.ts'

/** A connection to a base address: what every vendor is sent, what this one is, and, last, what the operator adds. */
export function connectionAt(
  base: string,
  own: Readonly<Record<string, string | Secret | undefined>>,
  parameters: GatewayParams,
  defaults: Readonly<Record<string, unknown>>,
): Connection {
  const url = new URL(base)
  const headers: Record<string, string | Secret> = {
    // Bodies are relayed as they come: nothing here decodes them.
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
  }
  for (const [name, value] of Object.entries(own)) if (value !== undefined) headers[name] = value
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

/** Of vendors whose requests are JSON and whose answers are JSON or events. */
export const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const
