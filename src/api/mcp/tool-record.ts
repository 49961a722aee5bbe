import { measured } from '../../lib/clock.ts'
import { isoTime } from '../../lib/iso-time.ts'
import { auditRecorded } from '../../telemetry/audit.ts'
import type { CallFinished, Ending, ToolCalled } from '../../telemetry/events.ts'
import { ledger } from '../../telemetry/ledger.ts'
import { actorOf } from '../middleware/audit.ts'
import type { Scope } from '../scope.ts'

/** The end of a tool call that a client made at /mcp. */
export interface ToolCallEnded extends Pick<ToolCalled, 'callId' | 'server' | 'tool' | 'result'> {
  readonly publicName: string
  /** undefined: there is no such tool, so that none was used. */
  readonly ending: Ending | undefined
  /** By `performance.now()`. */
  readonly startedAt: number
  /** When the server was asked to run the tool; undefined if it was not. */
  readonly askedAt: number | undefined
}

/** The path at which tools are called. */
export const MCP_PATH = '/mcp'

/** Records a tool call in metrics, ledger and audit, in the background. The audit event has no arguments or results. */
export function recordToolCall(scope: Scope, call: ToolCallEnded): void {
  const { services, client, requestId } = scope
  const { callId, server, tool, result, ending } = call
  const { keyId, kind, teamId = '' } = scope.caller()
  const now = services.clock.now()
  const at = isoTime(now)
  const endedAt = performance.now()
  const ms = measured(endedAt - call.startedAt)
  const key = keyId ?? kind
  services.telemetry.emit({ type: 'tool.called', at, callId, requestId, server, tool, result, ms, keyId: key, teamId })
  services.flushCounters(client)
  if (ending === undefined) return
  // Not as an event: `call.finished` is for model calls.
  services.delivery.deliver(ledger, rowOf(scope, call, { at, ms, endedAt, ending }))
  audit(scope, call, { now, ending })
}

/** The row of a tool call: its model is the tool, its deployment the server. */
function rowOf(
  { requestId, caller }: Scope,
  { callId, server, publicName, tool, startedAt, askedAt }: ToolCallEnded,
  {
    at,
    ms,
    endedAt,
    ending,
  }: { readonly at: string; readonly ms: number; readonly endedAt: number; readonly ending: Ending },
): CallFinished {
  const { kind, keyId = kind, teamId = '', organizationId = '', userId = '' } = caller()
  return {
    type: 'call.finished',
    at,
    requestId,
    callId,
    batchId: '',
    prompt: '',
    repeats: false,
    endpoint: MCP_PATH,
    mode: 'tool',
    requestedModel: publicName,
    // A server that is away cannot tell whether the tool exists.
    model: tool === '' ? '' : publicName,
    deployment: server,
    provider: 'mcp',
    keyId,
    teamId,
    organizationId,
    userId,
    tags: [],
    trace: undefined,
    streamed: false,
    ending,
    status: statusOf(ending),
    errorType: ending === 'answered' ? '' : 'api_error',
    usage: undefined,
    costNano: 0,
    savedNano: 0,
    cache: 'off',
    charges: [],
    attempts: askedAt === undefined ? 0 : 1,
    tried: [],
    tools: [],
    rescuedFrom: [],
    malformedEvents: 0,
    overheadMs: measured((askedAt ?? endedAt) - startedAt),
    firstTokenMs: undefined,
    upstreamMs: askedAt === undefined ? undefined : measured(endedAt - askedAt),
    totalMs: ms,
  }
}

function audit(
  { services, caller, requestId, address, header }: Scope,
  { publicName, server, result }: ToolCallEnded,
  { now, ending }: { readonly now: number; readonly ending: Ending },
): void {
  services.telemetry.emit(
    auditRecorded(now, {
      ...actorOf(caller()),
      organization_id: caller().organizationId,
      action: 'tool.call',
      resource_id: publicName,
      request_id: requestId,
      ip: address,
      user_agent: header('user-agent'),
      status: statusOf(ending),
      metadata: { server, result },
    }),
  )
}

/** Of the HTTP answer: a server's failure is a result too. */
function statusOf(ending: Ending): number {
  return ending === 'client_closed' ? 499 : 200
}
