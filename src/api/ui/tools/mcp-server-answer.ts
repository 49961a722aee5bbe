import * as z from 'zod'
import { MCP_SERVER_DEFAULTS, type McpServerEntry } from '../../../config/sections/mcp-servers.ts'
import { shownAddress } from '../../../lib/addresses/shown-address.ts'
import { lazily } from '../../../lib/lazily.ts'
import { MASK } from '../../../lib/secret.ts'
import type { McpServerRecord } from '../../../stores/sql/tools/mcp-server-records.ts'

/** A server of tools as the API shows it: secrets are masks. */
export const mcpServerAnswer = lazily(() =>
  z.object({
    server_key: z.string(),
    source: z.enum(['database', 'file']).describe('Where it is stored; servers of the file are changed in the file.'),
    transport: z.literal('streamable_http'),
    base_url: z.string().describe(`${MASK} stands for the values of its query and for keys in its path.`),
    auth_mode: z.enum(['none', 'bearer', 'header_map']),
    auth_token: z.string().nullable().describe(`${MASK} where there is one.`),
    auth_headers: z.record(z.string(), z.string()).describe(`By name; each shows as ${MASK}.`),
    enabled: z.boolean(),
    request_timeout_ms: z.int(),
    allow_private: z.boolean(),
    version: z.int().nullable().describe('Increases with every change; null for servers of the file.'),
    created_at: z.iso.datetime().nullable(),
    updated_at: z.iso.datetime().nullable(),
  }),
)

export type McpServerAnswer = z.output<ReturnType<typeof mcpServerAnswer>>

export function fromRecord({
  server_key,
  settings,
  version,
  created_at,
  updated_at,
}: McpServerRecord): McpServerAnswer {
  const kept = { ...MCP_SERVER_DEFAULTS, ...settings } as Pick<
    McpServerAnswer,
    keyof typeof MCP_SERVER_DEFAULTS | 'base_url'
  >
  const base_url = shownAddress(kept.base_url)
  return { server_key, source: 'database', ...kept, base_url, version, created_at, updated_at }
}

/** Servers of the file may be in the operator's own network. */
export function fromFile({
  server_key,
  base_url,
  auth_token,
  auth_headers,
  ...entry
}: McpServerEntry): McpServerAnswer {
  const masks = Object.entries(auth_headers ?? {}).map(([name]) => [name, MASK])
  return {
    server_key,
    source: 'file',
    base_url: base_url.toString(),
    ...entry,
    auth_token: auth_token === undefined ? null : MASK,
    auth_headers: Object.fromEntries(masks),
    allow_private: true,
    version: null,
    created_at: null,
    updated_at: null,
  }
}
