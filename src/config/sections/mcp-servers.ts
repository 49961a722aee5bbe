import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { checked, evenIfBroken, flag, headerSecret, headers, keyedUrl, positiveCount, section } from '../fields.ts'

/** What a server is where nothing is said of it, as the administration shows it. */
export const MCP_SERVER_DEFAULTS = {
  transport: 'streamable_http',
  auth_mode: 'none',
  auth_token: null,
  auth_headers: {},
  enabled: true,
  request_timeout_ms: 30_000,
  allow_private: false,
} as const

/** A server of managed tools, of the configuration file. */
const mcpServer = lazily(() =>
  section({
    server_key: checked((key) =>
      /^[A-Za-z0-9_-]{1,40}$/.test(key) && !key.includes('__') && !key.endsWith('_')
        ? undefined
        : 'must be 1 to 40 letters, digits, - or _, without __, which divides it from the tool name, and not end in _',
    ).describe('The name that requests use, and the first part of the names of its tools.'),
    transport: z
      .literal('streamable_http')
      .default(MCP_SERVER_DEFAULTS.transport)
      .describe('The protocol of the server.'),
    base_url: keyedUrl().describe("The server's address."),
    auth_mode: z
      .enum(['none', 'bearer', 'header_map'])
      .default(MCP_SERVER_DEFAULTS.auth_mode)
      .describe('How the gateway authenticates there.'),
    auth_token: headerSecret().optional().describe('The token for auth_mode bearer.'),
    auth_headers: headers().optional().describe('The headers for auth_mode header_map.'),
    enabled: flag().default(MCP_SERVER_DEFAULTS.enabled).describe('Whether its tools are offered.'),
    request_timeout_ms: positiveCount()
      .max(600_000)
      .default(MCP_SERVER_DEFAULTS.request_timeout_ms)
      .describe('Milliseconds that one tool call may take.'),
  }).superRefine((server, context) => {
    const need = (field: string) =>
      context.addIssue({
        code: 'custom',
        path: [field],
        message: `is required for auth_mode ${server.auth_mode}; add it`,
      })
    if (server.auth_mode === 'bearer' && server.auth_token === undefined) need('auth_token')
    if (server.auth_mode === 'header_map' && server.auth_headers === undefined) need('auth_headers')
  }, evenIfBroken),
)

/** A server that the administration adds, which anybody who may do so can have ask any address. */
export const addedMcpServer = lazily(() =>
  mcpServer().safeExtend({
    allow_private: flag()
      .default(MCP_SERVER_DEFAULTS.allow_private)
      .describe('Whether its address may be in a private network.'),
  }),
)

export type AddedMcpServer = z.output<ReturnType<typeof addedMcpServer>>
export type McpServerEntry = z.output<ReturnType<typeof mcpServer>>

export const mcpServers = lazily(() =>
  z.array(mcpServer()).superRefine(
    (servers, context) => {
      const first = new Map<unknown, number>()
      for (const [index, server] of servers.entries()) {
        const key = server?.server_key
        if (typeof key !== 'string') continue
        const earlier = first.get(key)
        if (earlier === undefined) first.set(key, index)
        else {
          const message = `is the same as that of entry ${earlier}; give each server its own`
          context.addIssue({ code: 'custom', path: [index, 'server_key'], message })
        }
      }
    },
    { when: ({ value }) => Array.isArray(value) },
  ),
)
