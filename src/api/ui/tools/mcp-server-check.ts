import * as z from 'zod'
import { addedMcpServer } from '../../../config/sections/mcp-servers.ts'
import { lazily } from '../../../lib/lazily.ts'
import { toolServerOfDraft, toolServerOfRecord } from '../../../mcp/stored-tool-server.ts'
import { type ToolServer, toolServerOf } from '../../../mcp/tool-server.ts'
import { type Tool, ToolFailure } from '../../../mcp/tool-servers.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { findMcpServer, unknownMcpServer } from './mcp-servers.ts'

const PATH = '/ui/api/mcp-servers'

const schema = lazily(() => z.record(z.string(), z.unknown()))

const checkAnswer = lazily(() =>
  z.object({
    ok: z.boolean(),
    failure: z
      .object({
        kind: z.enum([
          'unreachable',
          'timeout',
          'refused',
          'protocol',
          'too_large',
          'unknown_tool',
          'invalid_params',
          'failed',
        ]),
        message: z.string(),
      })
      .nullable()
      .describe('What is wrong, if it is not ok.'),
    protocol_version: z.string().nullable(),
    server: z.object({ name: z.string(), version: z.string(), instructions: z.string() }).nullable(),
    latency_ms: z.int().nullable().describe('How long it took to connect and to list the tools.'),
    tools: z.array(
      z.object({
        name: z.string(),
        public_name: z.string().describe('The name that models and clients see.'),
        title: z.string().nullable(),
        description: z.string(),
        input_schema: schema(),
        output_schema: schema().nullable(),
        annotations: schema().nullable(),
      }),
    ),
    left_out: z
      .array(z.object({ name: z.string(), reason: z.string() }))
      .describe('Tools that the server lists and nobody can call.'),
  }),
)

const shared = {
  method: 'post',
  tag: 'Configuration',
  auth: 'admin',
  responses: { 200: { description: 'What the server answered, or what is wrong.', schema: checkAnswer } },
} as const

const checkStored = defineRoute(
  {
    ...shared,
    path: `${PATH}/{server_key}/check`,
    summary: 'Connects to a server of managed tools afresh, and lists its tools.',
    permission: 'config.read',
    params: () => z.object({ server_key: z.string() }),
  },
  async (scope) => {
    const { services, input } = scope
    const { server_key: key } = input.params
    const record = await findMcpServer(services, key)
    if (record) return checked(scope, await toolServerOfRecord(record, services.seal))
    const entry = services.config.gateway_settings.mcp_servers.find(({ server_key }) => server_key === key)
    if (!entry) throw unknownMcpServer()
    return checked(scope, toolServerOf(entry, { allowPrivate: true }))
  },
)

const checkDraft = defineRoute(
  {
    ...shared,
    path: `${PATH}/check`,
    summary: 'Connects to a server of managed tools that is not saved, or to a saved one with these settings.',
    permission: 'config.update',
    action: 'mcp_server.check',
    json: addedMcpServer,
  },
  async (scope) => {
    const { services, input, audits } = scope
    const { server_key: key, ...draft } = input.json
    audits({ resource_id: key })
    const earlier = await findMcpServer(services, key)
    const { server } = await toolServerOfDraft(key, draft, services.seal, earlier)
    return checked(scope, server)
  },
)

export const mcpServerChecks: readonly Route[] = [checkDraft, checkStored]

async function checked({ services, client }: Pick<Scope, 'services' | 'client'>, server: ToolServer) {
  try {
    const { tools, ...report } = await services.toolServers.check(server, { signal: client.signal })
    const { protocolVersion, name, version, instructions, latencyMs, leftOut } = report
    return json({
      ok: true,
      failure: null,
      protocol_version: protocolVersion,
      server: { name, version, instructions },
      latency_ms: Math.round(latencyMs),
      tools: tools.map(shownTool),
      left_out: leftOut,
    })
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    const failure = { kind: error.kind, message: error.message }
    return json({ ok: false, failure, protocol_version: null, server: null, latency_ms: null, tools: [], left_out: [] })
  }
}

function shownTool({ name, publicName, title, description, inputSchema, outputSchema, annotations }: Tool) {
  return {
    name,
    public_name: publicName,
    title: title ?? null,
    description,
    input_schema: inputSchema,
    output_schema: outputSchema ?? null,
    annotations: annotations ?? null,
  }
}
