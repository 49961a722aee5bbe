import { isRecord } from '../../lib/json/lenient.ts'
import { fromHeader, mirroredArguments, textAt } from '../../mcp/mirrored.ts'
import { VIA_HEADER } from '../../mcp/via.ts'
import type { Scope } from '../scope.ts'
import { RpcFailure, type RpcRequest } from './json-rpc.ts'
import { serverOf } from './usable-servers.ts'

/** Throws where the headers of a tool call differ from the arguments that the tool has them repeat. */
export async function requireSameArguments(scope: Scope, { method, params }: RpcRequest): Promise<void> {
  const { name, arguments: args } = params
  if (method !== 'tools/call' || typeof name !== 'string' || !isRecord(args)) return
  const { services, client, header } = scope
  const server = serverOf(services, scope.caller(), name)
  if (!server) return
  // A server that cannot be asked fails at the call.
  const asking = { signal: client.signal, via: header(VIA_HEADER) }
  const tools = await services.toolServers.tools(server, asking).catch(() => [])
  const tool = tools.find(({ publicName }) => publicName === name)
  for (const { header: mirror, path } of (tool && mirroredArguments(tool.inputSchema)) ?? []) {
    const text = textAt(args, path)
    if (text === undefined || isSame(fromHeader(header(mirror)), text)) continue
    const message = `${mirror}: this header has to say what the argument ${path.join('.')} says`
    throw new RpcFailure('headerMismatch', message, { param: mirror })
  }
}

/** Whole numbers are compared as numbers. */
function isSame(told: string | undefined, text: string): boolean {
  return told === text || (/^-?\d+$/.test(text) && /^-?\d+\.0+$/.test(told ?? '') && Number(told) === Number(text))
}
