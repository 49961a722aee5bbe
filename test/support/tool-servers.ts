import { type Abort, newAbort } from '../../src/lib/abort.ts'
import { jsonLog } from '../../src/lib/log.ts'
import { secret } from '../../src/lib/secret.ts'
import { separateTimers } from '../../src/lib/timers/timers.ts'
import { mcpToolServers } from '../../src/mcp/mcp-tool-servers.ts'
import type { ToolServer } from '../../src/mcp/tool-server.ts'
import type { ToolServers } from '../../src/mcp/tool-servers.ts'
import type { Transport } from '../../src/transport/transport.ts'

/** A server of tools of this machine, with a token. */
export function toolServer(url: string, changes: Partial<ToolServer> = {}): ToolServer {
  const credentials = { authorization: secret('Bearer a-token-of-the-tests') }
  return { key: 'far', url, enabled: true, timeoutMs: 5000, credentials, allowPrivate: true, ...changes }
}

/** What asks servers of tools. With `defer` it works as on Workers: no request waits for the promise of another. */
export function askingToolServers(
  transport: Transport,
  changes: { readonly now?: () => number; readonly defer?: (work: Promise<void>) => void } = {},
): ToolServers {
  return mcpToolServers({
    transport,
    timers: separateTimers,
    gateway: 'test',
    now: Date.now,
    log: jsonLog('silent', () => {}),
    ...changes,
  })
}

/** Never aborts. */
export const patient: Abort = newAbort()
