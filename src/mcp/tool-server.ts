import type { Config } from '../config/schema.ts'
import type { McpServerEntry } from '../config/sections/mcp-servers.ts'
import { reveal, type Secret, sameSecret, secret } from '../lib/secret.ts'

/** A server of managed tools, of the configuration file or the database. */
export interface ToolServer {
  readonly key: string
  /** Its MCP endpoint. */
  readonly url: string
  readonly enabled: boolean
  /** How long one call of a tool, or one listing, may take. */
  readonly timeoutMs: number
  /** The headers that authenticate the gateway there. */
  readonly credentials: Readonly<Record<string, Secret>>
  /** Whether its address may be in a private network. */
  readonly allowPrivate: boolean
}

/** The server of an entry. Those of the configuration file may be in the operator's own network. */
export function toolServerOf(entry: McpServerEntry, { allowPrivate }: { readonly allowPrivate: boolean }): ToolServer {
  const { server_key: key, base_url, enabled, request_timeout_ms: timeoutMs } = entry
  return { key, url: reveal(base_url), enabled, timeoutMs, credentials: credentialsOf(entry), allowPrivate }
}

export type ToolServersByKey = ReadonlyMap<string, ToolServer>

/** The servers of the configuration file. */
export function toolServersOf({ gateway_settings: { mcp_servers } }: Config): ToolServersByKey {
  return new Map(mcp_servers.map((entry) => [entry.server_key, toolServerOf(entry, { allowPrivate: true })]))
}

function credentialsOf({ auth_mode, auth_token, auth_headers }: McpServerEntry): ToolServer['credentials'] {
  switch (auth_mode) {
    case 'none':
      return {}
    case 'bearer':
      return auth_token ? { authorization: secret(`Bearer ${reveal(auth_token)}`) } : {}
    case 'header_map': {
      const named = Object.entries(auth_headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
      return Object.fromEntries(named)
    }
  }
}

/** Whether what is known of a server still holds: the same address, asked in the same name. */
export function isSameEnd(one: ToolServer, other: ToolServer): boolean {
  if (one === other) return true
  const [own, others] = [Object.entries(one.credentials), other.credentials]
  return (
    one.key === other.key &&
    one.url === other.url &&
    one.allowPrivate === other.allowPrivate &&
    own.length === Object.keys(others).length &&
    own.every(([name, value]) => others[name] !== undefined && sameSecret(value, others[name]))
  )
}
