import type { JsonRecord } from '../../lib/json/lenient.ts'
import { callTool, type ToolCall } from './call-tool.ts'
import { initialize } from './initialize.ts'
import { RpcFailure } from './json-rpc.ts'
import { listTools } from './list-tools.ts'

type Method = (call: ToolCall, params: JsonRecord) => JsonRecord | Promise<JsonRecord>

/** A map, so that no name reaches what an object inherits. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['initialize', (_, params) => initialize(params)],
  ['ping', () => ({})],
  ['tools/list', ({ scope }, params) => listTools(scope, params)],
  ['tools/call', callTool],
])

export function methodOf(name: string): Method {
  const method = METHODS.get(name)
  if (method) return method
  throw new RpcFailure('methodNotFound', `This method is not offered: ${name.slice(0, 100)}`, { param: 'method' })
}
