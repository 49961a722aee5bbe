import { newId } from '../../../lib/ids.ts'
import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ModelRequest } from '../../../modes/mode.ts'
import type { ResponsesRequest } from '../../../modes/responses.ts'
import type { AskedCall, ToolConversation, ToolExecution, ToolList } from '../../../pipeline/tools/tool-conversation.ts'
import { callArguments } from '../../../providers/wire/call-arguments.ts'
import { toolSettings } from '../responses/document.ts'
import { functionsOf } from '../responses/functions.ts'
import { mcpCallId, toldCall } from '../responses/mcp-call-item.ts'
import { sumUsage } from './sum-usage.ts'

/** Managed tools in the Responses API: an answer tells of them in items of `mcp_list_tools` and `mcp_call`, as the vendor's
 *  own do, and a client may send those back. */
export const responsesConversation: ToolConversation = {
  member: 'input',
  labelled: true,

  history({ input }: ModelRequest, serverOf) {
    if (typeof input === 'string') return [{ role: 'user', content: input }]
    const history: JsonRecord[] = []
    let results: JsonRecord[] = []
    for (const item of asList(input).map(asRecord)) {
      const server = TOLD.has(item.type) ? serverOf(asText(item.server_label)) : undefined
      if (server !== undefined && item.type === 'mcp_call') {
        const { callId, name, arguments: text, output } = toldCall(item, server)
        history.push({ type: 'function_call', call_id: callId, name, arguments: text })
        results.push({ type: 'function_call_output', call_id: callId, output })
        continue
      }
      // Calls of one turn stand together, their results behind them.
      history.push(...results, ...(server === undefined ? [item] : []))
      results = []
    }
    return [...history, ...results]
  },

  isKept: ({ conversation }) => conversation !== undefined && conversation !== null,

  namesOf: (tool) =>
    (functionsOf({ ...tool, type: asText(tool.type) }) ?? []).map(([, { function: written }]) =>
      asText(asRecord(written).name),
    ),

  functionOf: ({ publicName, description, inputSchema }) => ({
    type: 'function',
    name: publicName,
    ...(description === '' ? {} : { description }),
    parameters: inputSchema,
    strict: false,
  }),

  choiceOf(choice, offered) {
    if (!isRecord(choice)) return choice
    const { type, server_label: label, name, tools } = choice
    if (type === 'allowed_tools' && Array.isArray(tools)) {
      return { ...choice, tools: tools.flatMap((tool) => allowed(tool, offered)) }
    }
    if (type !== 'mcp') return choice
    // A choice of a server without a tool means any of them.
    if (typeof name !== 'string') return 'required'
    return { type: 'function', name: offered(asText(label), name)[0] ?? name }
  },

  unforced(choice) {
    if (choice === 'required') return undefined
    if (!isRecord(choice)) return choice
    return choice.type === 'allowed_tools' ? { ...choice, mode: 'auto' } : undefined
  },

  read({ output, status }, { store }) {
    const items = asList(output).map(asRecord)
    const done = new Set(items.map(({ type, call_id }) => (String(type).endsWith('_output') ? call_id : undefined)))
    const isAsked = (item: JsonRecord) =>
      isFunctionCall(item) || (CLIENTS_OWN.has(item.type) && !done.has(item.call_id))
    const calls = items.filter(isAsked).map(askedCall)
    return {
      calls,
      cut: status === 'incomplete',
      said: items.flatMap((item) => (store === false ? withoutStore(item) : [withArguments(item)])),
      portable: items.flatMap(portable),
    }
  },

  results(executions) {
    const shown = executions.filter(({ images }) => images.length > 0)
    const content = shown.flatMap(({ id, images }) => [
      { type: 'input_text', text: `The images of the result of ${id}:` },
      ...images.map(({ mediaType, data }) => ({ type: 'input_image', image_url: `data:${mediaType};base64,${data}` })),
    ])
    return [
      ...executions.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text })),
      ...(content.length > 0 ? [{ role: 'user', content }] : []),
    ]
  },

  answer({ request, turns, lists, isDropped }) {
    const { document } = turns.at(-1) as (typeof turns)[number]
    const items = turns.flatMap(({ document: { output }, executions }) => {
      const ran = new Map(executions.map((execution) => [execution.id, execution]))
      return asList(output)
        .map(asRecord)
        .flatMap((item) => {
          if (!isFunctionCall(item)) return [item]
          const execution = ran.get(asText(item.call_id))
          if (execution) return [callItem(execution)]
          return isDropped(askedCall(item)) ? [] : [item]
        })
    })
    const dropped = asList(document.output).map(asRecord).filter(isFunctionCall).map(askedCall).some(isDropped)
    const usage = sumUsage(turns.map((one) => one.document.usage))
    const listed = new Set(asList(request.input).map(listedLabel))
    return {
      ...document,
      ...(dropped && document.status === 'completed' ? LIMITED : {}),
      output: [...lists.filter(({ label }) => !listed.has(label)).map(listItem), ...items],
      ...toolSettings(request as ResponsesRequest),
      ...(usage ? { usage } : {}),
    }
  },
}

/** A tool that may be called: of a server whose tools are managed, its functions. */
function allowed(tool: unknown, offered: (label: string, tool?: string) => readonly string[]): readonly unknown[] {
  const { type, server_label: label, name } = asRecord(tool)
  const names = type === 'mcp' ? offered(asText(label), typeof name === 'string' ? name : undefined) : []
  return names.length === 0 ? [tool] : names.map((one) => ({ type: 'function', name: one }))
}

/** The items that tell of managed tools. */
const TOLD: ReadonlySet<unknown> = new Set(['mcp_call', 'mcp_list_tools'])

/** The model asked for calls that it may not have: its answer ends there. */
const LIMITED = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, completed_at: null }

/** Items that wait for the client, whatever tools of the gateway are called beside them. */
const CLIENTS_OWN: ReadonlySet<unknown> = new Set([
  ...['custom_tool_call', 'local_shell_call', 'shell_call', 'apply_patch_call', 'computer_call'],
  'mcp_approval_request',
])

const isFunctionCall = ({ type }: JsonRecord) => type === 'function_call'

/** A managed tool is called as a function without a namespace; every other call is the client's, by whatever name. */
function askedCall(item: JsonRecord): AskedCall {
  const { call_id, name, arguments: written, namespace } = item
  const isPlain = isFunctionCall(item) && namespace == null
  return { id: asText(call_id), name: isPlain ? asText(name) : '', arguments: asText(written) }
}

/** The call as a part of the conversation: several vendors refuse arguments that are no object. */
function withArguments(item: JsonRecord): JsonRecord {
  return !isFunctionCall(item) || callArguments(item.arguments) ? item : { ...item, arguments: '{}' }
}

/** An item of an answer that its provider did not store: it stands for itself, or for nothing. */
function withoutStore(item: JsonRecord): JsonRecord[] {
  if (item.type === 'reasoning') return typeof item.encrypted_content === 'string' ? [item] : []
  const { id: _id, ...rest } = withArguments(item)
  return [rest]
}

/** An item as any provider understands it. */
function portable(item: JsonRecord): JsonRecord[] {
  const { id: _id, status: _status, ...rest } = withArguments(item)
  return item.type === 'message' || isFunctionCall(item) ? [rest] : []
}

function listedLabel(item: unknown): string | undefined {
  const { type, server_label } = asRecord(item)
  return type === 'mcp_list_tools' ? asText(server_label) : undefined
}

function listItem({ label, tools }: ToolList): JsonRecord {
  return {
    id: newId('mcpl'),
    type: 'mcp_list_tools',
    server_label: label,
    tools: tools.map(({ name, description, inputSchema, annotations }) => ({
      name,
      description,
      input_schema: inputSchema,
      annotations: annotations ?? null,
    })),
    error: null,
  }
}

function callItem({
  id,
  name,
  server,
  label,
  tool,
  arguments: text,
  text: result,
  isError,
}: ToolExecution): JsonRecord {
  return {
    id: mcpCallId(id),
    type: 'mcp_call',
    status: isError ? 'failed' : 'completed',
    approval_request_id: null,
    server_label: label,
    // The server has no such tool: as the model called it.
    name: tool || name.slice(`${server}__`.length),
    arguments: text,
    output: isError ? null : result,
    error: isError ? result : null,
  }
}
