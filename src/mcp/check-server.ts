import type { Abort } from '../lib/abort.ts'
import { listed } from './listing/listed.ts'
import { type Connecting, serverConnection } from './server-connection.ts'
import type { ToolServer } from './tool-server.ts'
import { ToolFailure, type ToolServerReport } from './tool-servers.ts'
import { speaksOlderTransport } from './wire/exchange.ts'
import { failureOf } from './wire/failures.ts'

/** Opens a session of its own, lists the tools and ends it. */
export async function checkServer(
  server: ToolServer,
  options: Connecting,
  signal: Abort,
  now: () => number,
): Promise<ToolServerReport> {
  const own = serverConnection(server, options)
  const begun = now()
  try {
    const { tools, leftOut } = await listed(server, own, signal)
    const latencyMs = now() - begun
    const { protocolVersion = '', name = '', version = '', instructions = '' } = own.session() ?? {}
    return { protocolVersion, name, version, instructions, tools, leftOut, latencyMs }
  } catch (error) {
    if (error instanceof ToolFailure && error.kind === 'protocol' && (await isOlder(server, options, signal))) {
      const words = 'speaks the older transport of MCP, HTTP with SSE, and the gateway Streamable HTTP, often at /mcp'
      throw failureOf(server, 'protocol', words, { cause: error })
    }
    throw error
  } finally {
    await own.end()
  }
}

function isOlder(server: ToolServer, { transport, gateway }: Connecting, signal: Abort): Promise<boolean> {
  return speaksOlderTransport({ server, transport, via: gateway }, signal).catch(() => false)
}
