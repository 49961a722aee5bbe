import { newAbort } from '../../lib/abort.ts'
import type { GatewayError } from '../../lib/errors.ts'
import { newTimedId } from '../../lib/ids.ts'
import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ToolServer } from '../../mcp/tool-server.ts'
import { ToolFailure, type ToolProgress } from '../../mcp/tool-servers.ts'
import { VIA_HEADER } from '../../mcp/via.ts'
import { departure } from '../../pipeline/client.ts'
import { notReadYet } from '../../pipeline/plan/model-not-found.ts'
import type { Scope } from '../scope.ts'
import { hearOthers } from './cancelled-elsewhere.ts'
import { RpcFailure, type RpcId } from './json-rpc.ts'
import { runningName } from './running-tools.ts'
import { recordToolCall, type ToolCallEnded } from './tool-record.ts'
import { serverOf } from './usable-servers.ts'

export interface ToolCall {
  readonly scope: Scope
  /** The client's id of the request. */
  readonly id: RpcId
  /** The client's session, if it has told of one. */
  readonly session: string | undefined
  /** Called with what the server says of the call while it runs. */
  readonly progress?: ((told: ToolProgress) => void) | undefined
}

/** The longest public name that a tool can have. */
const LONGEST_NAME = 64

/** Calls a tool of the server that its name begins with. A failing server becomes a result with an error text, as MCP
 *  asks; an unknown or forbidden tool is an error of the request. */
export async function callTool(call: ToolCall, params: JsonRecord): Promise<JsonRecord> {
  const { scope } = call
  const { name, arguments: args = {} } = params
  if (typeof name !== 'string') throw new RpcFailure('invalidParams', 'name: must be a string', { param: 'name' })
  if (!isRecord(args)) throw new RpcFailure('invalidParams', 'arguments: must be an object', { param: 'arguments' })
  const server = name.length > LONGEST_NAME ? undefined : serverOf(scope.services, scope.caller(), name)
  if (!server) throw scope.services.registry.unread ? notReadYet() : unknownTool(name)
  const running = run(call, server, name, args)
  // Deferred: the call is recorded even if the client leaves, with which Workers end the request.
  scope.client.defer(running.catch(() => {}))
  return running
}

async function run(call: ToolCall, server: ToolServer, publicName: string, args: JsonRecord): Promise<JsonRecord> {
  const { scope, progress } = call
  const { toolServers } = scope.services
  const end = endOf(call)
  const asking = { signal: end.signal, via: scope.header(VIA_HEADER) }
  const startedAt = performance.now()
  let tool = ''
  let askedAt: number | undefined
  const ended = (result: ToolCallEnded['result'], ending: ToolCallEnded['ending']) => {
    const callId = newTimedId('call')
    recordToolCall(scope, { callId, server: server.key, tool, publicName, result, ending, startedAt, askedAt })
  }
  try {
    const tools = await toolServers.tools(server, asking)
    tool = tools.find((one) => one.publicName === publicName)?.name ?? ''
    if (tool === '') throw new ToolFailure('unknown_tool', publicName)
    askedAt = performance.now()
    const result = await toolServers.call(server, tool, args, { ...asking, ...(progress ? { progress } : {}) })
    ended(result.isError ? 'error' : 'ok', 'answered')
    return { ...result }
  } catch (thrown) {
    if (end.signal.reason) {
      ended('failed', 'client_closed')
      throw end.signal.reason
    }
    const kind = thrown instanceof ToolFailure ? thrown.kind : undefined
    ended(kind === 'timeout' ? kind : 'failed', kind === 'unknown_tool' ? undefined : 'failed')
    if (!(thrown instanceof ToolFailure)) throw thrown
    if (kind === 'unknown_tool') throw unknownTool(publicName)
    return { content: [{ type: 'text', text: thrown.message }], isError: true }
  } finally {
    end.close()
  }
}

/** Ends a call whose client leaves or cancels it. */
function endOf({ scope, session, id }: ToolCall) {
  const { client, services } = scope
  const signal = newAbort<GatewayError | RpcFailure>()
  const leave = () => signal.abort(departure(client.signal))
  client.signal.addEventListener('abort', leave, { once: true })
  if (client.signal.aborted) leave()
  const name = runningName(scope.caller(), session, id)
  const opened = name === undefined ? undefined : services.runningTools.open(name)
  const cancel = () => signal.abort(new RpcFailure('cancelled', 'The request was cancelled.', { code: 'cancelled' }))
  void opened?.cancelled.then(cancel)
  const stopHearing = name === undefined ? undefined : hearOthers(scope, name, cancel)
  return {
    signal,
    close() {
      opened?.close()
      stopHearing?.()
      client.signal.removeEventListener('abort', leave)
    },
  }
}

/** The same for an unknown tool and for one that only other callers may use. */
function unknownTool(name: string): RpcFailure {
  return new RpcFailure('invalidParams', `Unknown tool: ${name.slice(0, LONGEST_NAME)}`, { param: 'name' })
}
