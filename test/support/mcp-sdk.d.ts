/** What the tests use of the official MCP client. Its own types take seconds to check. */
declare module '@modelcontextprotocol/sdk/client/index.js' {
  export interface CalledTool {
    readonly content: readonly { readonly type: string; readonly text?: string; readonly mimeType?: string }[]
    readonly structuredContent?: unknown
    readonly isError?: boolean
  }
  interface RequestOptions {
    readonly signal?: AbortSignal
    readonly onprogress?: (told: { readonly progress: number; readonly total?: number }) => void
  }
  export class Client {
    constructor(info: { readonly name: string; readonly version: string })
    connect(transport: object): Promise<void>
    ping(): Promise<unknown>
    listTools(params?: { readonly cursor?: string }): Promise<{
      readonly tools: readonly { readonly name: string; readonly description?: string; readonly inputSchema: object }[]
      readonly nextCursor?: string
    }>
    callTool(
      params: { readonly name: string; readonly arguments?: object },
      schema?: undefined,
      options?: RequestOptions,
    ): Promise<CalledTool>
    getServerCapabilities(): object
    getServerVersion(): { readonly name: string }
    close(): Promise<void>
  }
}

declare module '@modelcontextprotocol/sdk/types.js' {
  export const ToolSchema: { parse(value: unknown): object }
}

declare module '@modelcontextprotocol/sdk/client/streamableHttp.js' {
  export class StreamableHTTPClientTransport {
    constructor(
      url: URL,
      options: {
        readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>
        readonly requestInit?: RequestInit
        readonly sessionId?: string
      },
    )
    readonly sessionId: string | undefined
    readonly protocolVersion: string | undefined
    terminateSession(): Promise<void>
  }
}
