import { plainText } from '../plain-text.ts'
import { RPC_ERRORS } from '../protocol.ts'
import type { ToolServer } from '../tool-server.ts'
import { type RpcError, ToolFailure, type ToolFailureKind } from '../tool-servers.ts'

const MOST_WORDS = 1000

/** A failure of a server, in words that name it. */
export function failureOf(
  { key }: ToolServer,
  kind: ToolFailureKind,
  words: string,
  options?: { readonly rpc?: RpcError; readonly cause?: unknown },
): ToolFailure {
  return new ToolFailure(kind, `The tool server '${key}' ${words}.`, options)
}

/** An error that a server answered as JSON-RPC has them. */
export function rpcFailure(server: ToolServer, { code, message, data }: RpcError): ToolFailure {
  const said = plainText(message, MOST_WORDS)
  const kind =
    code !== RPC_ERRORS.invalidParams
      ? 'failed'
      : /unknown tool|tool .*not found|no such tool/i.test(said)
        ? 'unknown_tool'
        : 'invalid_params'
  const rpc = { code, message: said, ...(data === undefined ? {} : { data }) }
  return failureOf(server, kind, `answered with error ${code}: ${said.replace(/[.\s]+$/, '')}`, { rpc })
}

/** What a status says that is no success. */
export function statusFailure(server: ToolServer, status: number): ToolFailure {
  const { kind, words } = meaningOf(status)
  return failureOf(server, kind, words)
}

function meaningOf(status: number): { readonly kind: ToolFailureKind; readonly words: string } {
  if (status >= 300 && status < 400) {
    return { kind: 'protocol', words: `redirects to another address (${status}), which is not followed` }
  }
  if (status === 401 || status === 403) {
    return { kind: 'refused', words: `does not accept the gateway's credentials (${status})` }
  }
  if (status === 404) return { kind: 'protocol', words: 'has no MCP endpoint at its address (404)' }
  if (status === 405) return { kind: 'protocol', words: 'takes no POST at its address (405), as Streamable HTTP would' }
  if (status === 408 || status === 429 || status >= 500) {
    return { kind: 'unreachable', words: `is out of order: it answered with status ${status}` }
  }
  return { kind: 'protocol', words: `refused a message of MCP with status ${status}` }
}
