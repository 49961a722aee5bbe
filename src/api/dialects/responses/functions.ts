import { asList, asRecord, asText, isRecord } from '../../../lib/json/lenient.ts'
import { functionName } from '../../../modes/function-name.ts'
import type { ResponsesRequest } from '../../../modes/responses.ts'
import { known, type Part } from './content.ts'

export type Tool = NonNullable<ResponsesRequest['tools']>[number]

/** A tool of the client's that is offered to the model as a function, and how its calls are written. */
export interface OfferedTool {
  readonly kind: 'function' | 'custom' | 'local_shell'
  readonly name: string
  readonly namespace?: string
}

/** The name under which a tool is offered. Members of a namespace have its name in front. */
export function offeredName(name: unknown, namespace?: unknown): string {
  const space = asText(namespace)
  if (space === '') return functionName(asText(name))
  return functionName(`${space}${space.endsWith('__') ? '' : '__'}${asText(name)}`)
}

/** A tool as functions of chat, each with what it is to the client; undefined for a tool that only a provider runs. */
export function functionsOf(tool: Tool, namespace?: string): (readonly [OfferedTool, Part])[] | undefined {
  const { type, name, description } = tool
  const offered = { name: asText(name), ...(namespace === undefined ? {} : { namespace }) }
  if (type === 'function') {
    const { parameters, strict } = tool
    return [[{ ...offered, kind: 'function' }, written(offered, { description, parameters, strict })]]
  }
  if (type === 'custom') {
    return [[{ ...offered, kind: 'custom' }, written(offered, { description: described(tool), parameters: TEXT })]]
  }
  if (type === 'local_shell') {
    const shell = { name: 'local_shell' }
    const told = "Runs a command in a shell on the user's machine and returns its output."
    return [[{ ...shell, kind: 'local_shell' }, written(shell, { description: told, parameters: COMMAND })]]
  }
  if (type !== 'namespace' || namespace !== undefined) return undefined
  return asList(tool.tools).flatMap((member) => {
    const { type: kind } = asRecord(member)
    return typeof kind === 'string' ? (functionsOf({ ...asRecord(member), type: kind }, asText(name)) ?? []) : []
  })
}

function written({ name, namespace }: { readonly name: string; readonly namespace?: string }, fields: Part): Part {
  return { type: 'function', function: { name: offeredName(name, namespace), ...known(fields) } }
}

/** What a custom tool takes: any text. */
const TEXT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as it is.' } },
  required: ['input'],
  additionalProperties: false,
}

const COMMAND = {
  type: 'object',
  properties: {
    command: { type: 'array', items: { type: 'string' }, description: 'The program and its arguments.' },
    working_directory: { type: 'string' },
    timeout_ms: { type: 'number' },
  },
  required: ['command'],
}

/** A grammar cannot be enforced by a function: the model is told of it. */
function described({ description, format }: Tool): string {
  const { type, syntax, definition } = asRecord(format)
  const words = asText(description)
  if (type !== 'grammar') return words
  return `${words}\n\nThe input must follow this ${asText(syntax)} grammar:\n${asText(definition)}`.trimStart()
}

/** The tools of a request: its own, those that its input adds, and the functions that searches of earlier turns have found,
 *  which may be among them. */
export function toolsOf({ tools, input }: ResponsesRequest): readonly Tool[] {
  const among = asList(input).flatMap((item) => {
    const { type, tools: given } = asRecord(item)
    if (type === 'additional_tools') return asList(given).filter(isTool)
    return type === 'tool_search_output' ? asList(given).filter(isFunction) : []
  })
  return [...(tools ?? []), ...among]
}

const isTool = (tool: unknown): tool is Tool => typeof asRecord(tool).type === 'string'
const isFunction = (tool: unknown): tool is Tool => functionsOf(asRecord(tool) as Tool) !== undefined

/** The tools of a request by the names under which they are offered. */
export function offeredTools(request: ResponsesRequest): ReadonlyMap<string, OfferedTool> {
  const offered = new Map<string, OfferedTool>()
  for (const tool of toolsOf(request)) {
    for (const [origin, { function: written }] of functionsOf(tool) ?? []) {
      if (isRecord(written)) offered.set(asText(written.name), origin)
    }
  }
  return offered
}
