import type { GatewayParams } from '../../../config/sections/model-list.ts'
import { reveal, secret } from '../../../lib/secret.ts'
import type { Connection } from '../../provider.ts'
import { connectionAt } from './connection-at.ts'

/** A vendor whose credential is one constant header. */
export interface KeyHeader {
  /** Without the version that its paths begin with. */
  readonly apiBase: string
  readonly header: string
  /** The prefix of the key, with its space. */
  readonly scheme?: string
}

/** The connection of a deployment whose key is sent in one header. The address may end in `/v1` or not. */
export function keyConnection(
  vendor: KeyHeader,
  parameters: GatewayParams,
  defaults: Readonly<Record<string, unknown>>,
): Connection {
  const { api_key } = parameters
  const key = api_key && secret(`${vendor.scheme ?? ''}${reveal(api_key)}`)
  const own = { accept: '*/*', [vendor.header]: key }
  const connection = connectionAt(parameters.api_base ?? vendor.apiBase, own, parameters, defaults)
  return { ...connection, basePath: connection.basePath.replace(/\/v1$/, '') }
}
