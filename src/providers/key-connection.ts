import type { GatewayParams } from '../config/model-list.ts'
import { reveal, type Secret, secret } from '../lib/secret.ts'
import type { Connection } from './provider.ts'

/** What tells vendors apart whose credential is one constant header. */
export interface KeyHeader {
  /** Without the version that its paths begin with. */
  readonly apiBase: string
  readonly header: string
  /** Before the key, with its space. */
  readonly scheme?: string
}

/** Where a vendor is that takes its key in one header. An address is understood with and without its `/v1`. */
export function keyConnection(
  vendor: KeyHeader,
  parameters: GatewayParams,
  defaults: Readonly<Record<string, unknown>>,
): Connection {
  const url = new URL(parameters.api_base ?? vendor.apiBase)
  const headers: Record<string, string | Secret> = {
    accept: '*/*',
    // Sounds are relayed as they come: nothing here decodes them.
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
  }
  if (parameters.api_key) headers[vendor.header] = secret(`${vendor.scheme ?? ''}${reveal(parameters.api_key)}`)
  for (const [name, value] of Object.entries(parameters.headers ?? {})) headers[name.toLowerCase()] = value
  return {
    model: parameters.upstream_model,
    origin: url.origin,
    basePath: url.pathname.replace(/\/+$/, '').replace(/\/v1$/, ''),
    headers,
    parameters,
    defaults,
  }
}
