import { type Abort, unlessAborted } from '../../lib/abort.ts'
import { measured } from '../../lib/clock.ts'
import { GatewayError } from '../../lib/errors.ts'
import { isoTime } from '../../lib/iso-time.ts'
import { describeError } from '../../lib/log.ts'
import { type Tool, ToolFailure } from '../../mcp/tool-servers.ts'
import { callArguments } from '../../providers/wire/call-arguments.ts'
import type { ToolCalled, ToolCallFinished } from '../../telemetry/events.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { gate } from './gate.ts'
import type { AskedServer } from './managed-tools.ts'
import { type ReadResult, readResult } from './result-text.ts'
import type { AskedCall, ToolExecution } from './tool-conversation.ts'

/** A call for a managed tool. */
export interface ManagedCall {
  readonly asked: AskedCall
  /** The server that its name speaks of. */
  readonly server: AskedServer
  /** undefined if there is no such tool, or none that is offered. */
  readonly tool: Tool | undefined
}

interface Outcome extends ReadResult {
  readonly result: ToolCalled['result']
}

/** Runs the calls of one turn at the same time, as far as the runtime allows, at most `most` of them, and returns them in
 *  their order. A failed call has a result that says so. Rejects only with the reason of `signal`; the servers then get a
 *  cancellation. */
export async function callTools(
  services: PipelineServices,
  call: Call,
  calls: readonly ManagedCall[],
  { turn, most, signal }: { readonly turn: number; readonly most: number; readonly signal: Abort },
): Promise<ToolExecution[]> {
  const told: ToolCallFinished[] = []
  const pass = gate(services.callsAtOnce ?? calls.length)
  const run = async (managed: ManagedCall, index: number): Promise<ToolExecution> => {
    const { label, server: asked } = managed.server
    const server = asked.key
    const base = { ...managed.asked, turn, server, label, tool: managed.tool?.name ?? '' }
    if (index >= most) return { ...base, text: NOT_RUN, images: [], isError: true, ms: 0 }
    if (signal.aborted) throw signal.reason
    const startedAt = performance.now()
    const tell = (result: ToolCalled['result']): number => {
      const ms = measured(performance.now() - startedAt)
      const ended = { server, tool: base.tool, result, ms }
      told[index] = { ...ended, startedMs: measured(startedAt - call.arrivedAt) }
      emit(services, call, ended)
      return ms
    }
    let outcome: Outcome
    try {
      outcome = await outcomeOf(services, call, managed, signal)
    } catch (error) {
      tell(error instanceof GatewayError && error.failure === 'call_timeout' ? 'timeout' : 'failed')
      throw error
    }
    const { text, images, result } = outcome
    const ms = tell(result)
    call.footprint.add(text.length + images.reduce((sum, { data }) => sum + data.length, 0))
    return { ...base, text, images, isError: result !== 'ok', ms }
  }
  const running = calls.map((managed, index) => pass(() => run(managed, index)))
  const ended = Promise.allSettled(running)
  // A cancellation is sent to the server after the client has left.
  call.client.defer(ended)
  await ended
  call.toolCalls = [...(call.toolCalls ?? []), ...told.filter((one) => one !== undefined)]
  return Promise.all(running)
}

const NOT_RUN = 'This call was not run: no more calls of tools are possible in this request.'

async function outcomeOf(
  { toolServers, registry, config, log }: PipelineServices,
  call: Call,
  {
    asked,
    server: {
      server: { key },
    },
    tool,
  }: ManagedCall,
  signal: Abort,
): Promise<Outcome> {
  if (!tool) return failed(`There is no tool '${asked.name.slice(0, 200)}'.`)
  // As it is set up now: it may have been changed or turned off since the call was admitted.
  const server = registry.toolServers.get(key)
  if (!server?.enabled) return failed(`The call failed: the tool server '${key}' is not there any more.`)
  const args = callArguments(asked.arguments)
  if (!args) return failed('The tool was not called: its arguments are not a JSON object.')
  try {
    const calling = toolServers.call(server, tool.name, args, { signal })
    const result = await unlessAborted(calling, signal)
    const read = readResult(result, config.general_settings.max_tool_result_bytes)
    return { ...read, result: result.isError ? 'error' : 'ok' }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof ToolFailure) {
      return failed(`The call failed: ${error.message}`, error.kind === 'timeout' ? 'timeout' : 'failed')
    }
    log.error('tool.failed', { callId: call.id, server: key, tool: tool.name, error: describeError(error) })
    return failed('The call failed inside the gateway.')
  }
}

function failed(text: string, result: ToolCalled['result'] = 'failed'): Outcome {
  return { text, images: [], result }
}

function emit({ telemetry, clock }: PipelineServices, call: Call, told: ToolCallFinished): void {
  const { id: callId, requestId, caller } = call
  const who = { callId, requestId, keyId: caller.keyId ?? caller.kind, teamId: caller.teamId ?? '' }
  telemetry.emit({ type: 'tool.called', at: isoTime(clock.now()), ...told, ...who })
}
