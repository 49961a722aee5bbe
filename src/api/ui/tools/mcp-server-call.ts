import * as z from 'zod'
import { measured } from '../../../lib/clock.ts'
import { isoTime } from '../../../lib/iso-time.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { ToolServer } from '../../../mcp/tool-server.ts'
import { ToolFailure, type ToolResult } from '../../../mcp/tool-servers.ts'
import type { ToolCalled } from '../../../telemetry/events.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { storable } from '../../storable.ts'
import { findFresh } from '../registry-records.ts'
import { unknownMcpServer } from './mcp-servers.ts'

const LONGEST_NAME = 256

const callAnswer = lazily(() =>
  z.object({
    ok: z.boolean().describe('Whether the tool has answered; what it did not manage, it says in its result.'),
    failure: z.object({ kind: z.string(), message: z.string() }).nullable().describe('Why it has not.'),
    result: z
      .object({
        content: z.array(z.looseObject({ type: z.string() })),
        structured_content: z.unknown().describe('Any JSON; null for none.'),
        is_error: z.boolean(),
      })
      .nullable(),
    latency_ms: z.number(),
  }),
)

/** Runs a tool for an administrator, to try it out. It counts against no limit and is not in the ledger. */
export const mcpServerCall = defineRoute(
  {
    method: 'post',
    path: '/ui/api/mcp-servers/{server_key}/call',
    summary: 'Calls a tool of a server, to see what it does.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.update',
    action: 'mcp_server.call',
    params: () => z.object({ server_key: z.string() }),
    json: () =>
      z.strictObject({
        tool: storable().min(1).max(LONGEST_NAME).describe('Its name, as its server or as models and clients see it.'),
        arguments: z.record(z.string(), z.unknown()).optional(),
      }),
    exact: true,
    responses: { 200: { description: 'What the tool answered, or what is wrong.', schema: callAnswer } },
  },
  async (scope) => {
    const { services, input, audits } = scope
    const { tool, arguments: args = {} } = input.json
    const server = await findFresh(services, () => services.registry.toolServers.get(input.params.server_key))
    if (!server) throw unknownMcpServer()
    audits({ metadata: { tool } })
    const startedAt = performance.now()
    const latency = () => measured(performance.now() - startedAt)
    try {
      const { content, structuredContent, isError } = await called(scope, server, tool, args)
      const result = { content, structured_content: structuredContent ?? null, is_error: isError }
      return json({ ok: true, failure: null, result, latency_ms: latency() })
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error
      const failure = { kind: error.kind, message: error.message }
      return json({ ok: false, failure, result: null, latency_ms: latency() })
    }
  },
)

async function called(
  scope: Scope,
  server: ToolServer,
  asked: string,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  const { services, client } = scope
  const { toolServers } = services
  const asking = { signal: client.signal }
  const startedAt = performance.now()
  let tool = ''
  const emitResult = (result: ToolCalled['result']) =>
    emitToolCalled(scope, { server: server.key, tool, result, startedAt })
  try {
    const tools = await toolServers.tools(server, asking)
    const found = tools.find(({ name, publicName }) => asked === name || asked === publicName)
    if (!found) throw new ToolFailure('unknown_tool', `The tool server '${server.key}' has no such tool.`)
    tool = found.name
    const result = await toolServers.call(server, tool, args, asking)
    emitResult(result.isError ? 'error' : 'ok')
    return result
  } catch (error) {
    emitResult(error instanceof ToolFailure && error.kind === 'timeout' ? 'timeout' : 'failed')
    throw error
  }
}

function emitToolCalled(
  { services, caller, requestId }: Scope,
  { startedAt, ...call }: Pick<ToolCalled, 'server' | 'tool' | 'result'> & { readonly startedAt: number },
): void {
  const { kind, keyId = kind, teamId = '' } = caller()
  const ms = measured(performance.now() - startedAt)
  const at = isoTime(services.clock.now())
  services.telemetry.emit({ type: 'tool.called', at, callId: '', requestId, ...call, ms, keyId, teamId })
}
