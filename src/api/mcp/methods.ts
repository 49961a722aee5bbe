import type { JsonRecord } from '../../lib/json/lenient.ts'
import { callTool, type ToolCall } from './call-tool.ts'
import { discover, initialize } from './initialize.ts'
import { RpcFailure } from './json-rpc.ts'
import { listTools, withLifetime } from './list-tools.ts'
import { olderList, olderResult } from './older-clients.ts'

type Method = (call: ToolCall, params: JsonRecord) => JsonRecord | Promise<JsonRecord>

/** A map, so that no name reaches what an object inherits. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['initialize', (_, params) => initialize(params)],
  ['ping', () => ({})],
  ['tools/list', async ({ scope }, params) => olderList(await listTools(scope, params))],
  ['tools/call', async (call, params) => olderResult(await callTool(call, params))],
])

/** Those of requests that tell their version themselves. */
const STATELESS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['server/discover', () => discover()],
  ['tools/list', async ({ scope }, params) => withLifetime(await listTools(scope, params))],
  ['tools/call', callTool],
])

export function methodOf(name: string, isStateless: boolean): Method {
  const method = (isStateless ? STATELESS : METHODS).get(name)
  if (method) return method
  throw new RpcFailure('methodNotFound', `This method is not offered: ${name.slice(0, 100)}`, { param: 'method' })
}
