import type { Abort } from '../../lib/abort.ts'
import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord } from '../../lib/json/lenient.ts'
import { type Tool, ToolFailure } from '../../mcp/tool-servers.ts'
import type { PipelineServices } from '../services.ts'
import type { AskedServer, ManagedTools } from './managed-tools.ts'
import type { ToolConversation, ToolList } from './tool-conversation.ts'

/** A tool that a model is offered. */
interface OfferedTool {
  readonly tool: Tool
  readonly asked: AskedServer
}

/** The managed tools that a call offers. */
export interface Offer {
  /** By the name of the function. */
  readonly tools: ReadonlyMap<string, OfferedTool>
  readonly lists: readonly ToolList[]
}

/** Lists the tools of the servers that a request asks for, as far as it allows them. Throws a refusal for a name that a
 *  server does not have, or that a function of the client's own has too. */
export async function offerOf(
  { toolServers }: PipelineServices,
  { servers, request }: ManagedTools,
  conversation: ToolConversation,
  signal: Abort,
): Promise<Offer> {
  const listed = await Promise.all(
    servers.map(async (asked) => {
      try {
        return { asked, tools: allowed(asked, await toolServers.tools(asked.server, { signal })) }
      } catch (error) {
        throw error instanceof ToolFailure ? unlisted(asked, error) : error
      }
    }),
  )
  const tools = new Map<string, OfferedTool>()
  for (const { asked, tools: own } of listed) for (const tool of own) tools.set(tool.publicName, { tool, asked })
  for (const [index, own] of asList(request.tools).entries()) {
    const name = conversation.namesOf(asRecord(own)).find((one) => tools.has(one))
    if (name === undefined) continue
    const message = `'${name}' is the name of a function of yours and of a managed tool. Rename the function.`
    throw new GatewayError('invalid_request', message, { param: `tools.${index}`, code: 'duplicate_function_name' })
  }
  return { tools, lists: listed.map(({ asked: { label }, tools }) => ({ label, tools })) }
}

function allowed({ allowed: names, readOnly, param, label }: AskedServer, tools: readonly Tool[]): readonly Tool[] {
  for (const name of names ?? []) {
    if (tools.some((tool) => tool.name === name)) continue
    const message = `The server '${label}' has no tool '${name.slice(0, 200)}'.`
    throw new GatewayError('invalid_request', message, { param: `${param}.allowed_tools`, code: 'unknown_tool' })
  }
  return tools.filter(
    ({ name, annotations }) =>
      (names === undefined || names.has(name)) && (!readOnly || annotations?.readOnlyHint === true),
  )
}

/** Without the tools that it asks for a call does not begin: its model could only make up what they would have told. */
function unlisted({ param, label }: AskedServer, failure: ToolFailure): GatewayError {
  const message = `The tools of '${label}' could not be listed: ${failure.message}`
  const status = failure.kind === 'timeout' ? { status: 504 } : {}
  return new GatewayError('tool_server_failed', message, { param, ...status, cause: failure })
}
