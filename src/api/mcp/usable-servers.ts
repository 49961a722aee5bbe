import type { ToolServer } from '../../mcp/tool-server.ts'
import type { Caller } from '../../pipeline/caller.ts'
import type { ApiServices } from '../scope.ts'

type Services = Pick<ApiServices, 'registry'>

/** The servers of tools that a caller may use. */
export function usableServers({ registry }: Services, caller: Caller): ToolServer[] {
  return [...registry.toolServers.values()].filter((server) => isUsable(server, caller))
}

/** The server in the public name of a tool; undefined if there is none for this caller. */
export function serverOf({ registry }: Services, caller: Caller, tool: string): ToolServer | undefined {
  const server = registry.toolServers.get(tool.slice(0, Math.max(0, tool.indexOf('__'))))
  return server && isUsable(server, caller) ? server : undefined
}

function isUsable({ enabled, key }: ToolServer, caller: Caller): boolean {
  return enabled && caller.mayUseServer(key)
}
