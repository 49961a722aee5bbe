/** The versions of MCP whose clients begin with `initialize`, newest first. */
export const VERSIONS_WITH_INITIALIZE = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
/** The version without it and without sessions: each message tells in `_meta` what `initialize` told before. */
export const STATELESS_VERSION = '2026-07-28'

/** The members of `_meta` that tell it. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
} as const

/** The codes of errors that JSON-RPC and MCP define for requests. */
export const RPC_ERRORS = {
  methodNotFound: -32601,
  invalidParams: -32602,
  /** A header lacks, or differs from what the body says. */
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const
