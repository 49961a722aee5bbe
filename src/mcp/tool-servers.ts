import type { Abort } from '../lib/abort.ts'
import type { JsonRecord } from '../lib/json/lenient.ts'
import type { ToolServer } from './tool-server.ts'

/** A tool as its server lists it: its texts are bounded and have no control characters. */
export interface Tool {
  readonly server: string
  /** As the server names it, which is how it is called there. */
  readonly name: string
  /** `<server_key>__<tool>`, fit for the name of a function at every provider: letters, digits, _ and -, at most 64. No
   *  two tools of any servers share one. */
  readonly publicName: string
  readonly title?: string
  readonly description: string
  /** A JSON Schema of an object. */
  readonly inputSchema: JsonRecord
  readonly outputSchema?: JsonRecord
  readonly annotations?: JsonRecord
  /** These three are only passed on to clients of `/mcp`. */
  readonly icons?: readonly unknown[]
  readonly execution?: JsonRecord
  readonly _meta?: JsonRecord
}

/** A content block of MCP: `text`, `image`, `audio`, `resource_link`, `resource`, or a type that is not known here. */
export type ToolContent = JsonRecord & { readonly type: string }

export interface ToolResult {
  readonly content: readonly ToolContent[]
  /** Any JSON but null. */
  readonly structuredContent?: unknown
  readonly _meta?: JsonRecord
  /** The tool ran, and says that it could not do what it was asked. */
  readonly isError: boolean
}

export interface AskOptions {
  /** Ends the call. A server that runs a tool is told so. */
  readonly signal: Abort
  /** The gateways through which the question has come (`x-gateway-via`). */
  readonly via?: string | undefined
}

export interface ToolCallOptions extends AskOptions {
  /** Called with what the server says of a call that runs. */
  readonly progress?: (told: ToolProgress) => void
}

export interface ToolProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** What an administrator sees of a server that answers. */
export interface ToolServerReport {
  readonly protocolVersion: string
  readonly name: string
  readonly version: string
  readonly instructions: string
  readonly tools: readonly Tool[]
  /** Tools that the server lists and nobody can call, each with the reason. */
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[]
  readonly latencyMs: number
}

/** Asks servers of managed tools. Sessions are kept and lists cached for each server. Everything rejects with a
 *  ToolFailure, or with the reason of the signal. */
export interface ToolServers {
  /** The id by which this gateway knows a question that comes back to it. */
  readonly gateway: string
  /** The tools of a server. A list that is known already is returned while a newer one is fetched. */
  tools(server: ToolServer, options: AskOptions): Promise<readonly Tool[]>
  /** Calls a tool by the server's own name for it. */
  call(server: ToolServer, tool: string, args: JsonRecord, options: ToolCallOptions): Promise<ToolResult>
  /** Connects afresh and lists the tools. */
  check(server: ToolServer, options: AskOptions): Promise<ToolServerReport>
  /** Ends the sessions with servers that are not among these, or that have another address or credential there. */
  keep(servers: ReadonlyMap<string, ToolServer>): void
  /** Ends all sessions. */
  end(): Promise<void>
}

export type ToolFailureKind =
  /** It cannot be reached, or is out of order. */
  | 'unreachable'
  | 'timeout'
  /** It does not accept our credentials, or its address is not allowed. */
  | 'refused'
  /** It does not speak MCP over Streamable HTTP. */
  | 'protocol'
  | 'too_large'
  | 'unknown_tool'
  | 'invalid_params'
  /** It answered the call with another error. */
  | 'failed'

/** A server failed at a call. The message names the server, and may be shown to a caller. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
  readonly kind: ToolFailureKind
  /** The error that the server answered. */
  readonly rpc: RpcError | undefined

  constructor(
    kind: ToolFailureKind,
    message: string,
    options: { readonly rpc?: RpcError; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.rpc = options.rpc
  }
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}
