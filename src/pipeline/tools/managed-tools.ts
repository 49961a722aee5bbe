import { GatewayError } from '../../lib/errors.ts'
import { wordsIn } from '../../lib/json/lazy-json.ts'
import { asList, asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ToolServer } from '../../mcp/tool-server.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Registry } from '../../routing/registry.ts'
import type { CallInput } from '../call-input.ts'
import type { Caller } from '../caller.ts'
import { notReadYet } from '../plan/model-not-found.ts'
import type { Refusal } from '../request/checked.ts'
import { edited, type Written } from '../request/written-request.ts'
import { MOST_CALLS } from './bounds.ts'
import type { ToolConversation } from './tool-conversation.ts'

/** The tools of one server that a request asks for. */
export interface AskedServer {
  readonly server: ToolServer
  /** The server's name in the request. */
  readonly label: string
  /** The path of the tool in the request. */
  readonly param: string
  /** The only tools that it may be asked for, by the server's own names. */
  readonly allowed: ReadonlySet<string> | undefined
  /** Only tools that say of themselves that they change nothing. */
  readonly readOnly: boolean
}

/** The managed tools that a request asks for. */
export interface ManagedTools {
  readonly servers: readonly AskedServer[]
  /** The client's own request. */
  readonly request: ModelRequest
  /** Its other tools. */
  readonly own: readonly JsonRecord[]
  /** The most calls of managed tools. */
  readonly mostCalls: number
}

type Prepared = (Written & { readonly tools: ManagedTools | undefined; readonly error?: never }) | Refusal

const MCP: ReadonlySet<string> = new Set(['mcp'])

/** A request with a function in the place of the managed tools that it asks for, which are offered once it is admitted,
 *  and without the gateway's own words for calls of such tools in earlier answers; undefined if it has neither. A vendor's
 *  own `mcp` tools, which hold the address of their server, stay. */
export function withoutManagedTools(
  registry: Registry,
  input: Input,
  caller: Pick<Caller, 'mayUseServer'>,
  written: Written,
): Prepared | undefined {
  const { dialect } = input.endpoint
  if (!dialect) return undefined
  try {
    return prepared(registry, input, caller, written) ?? retold(registry, dialect.tools, written)
  } catch (error) {
    if (error instanceof GatewayError) return { error }
    throw error
  }
}

type Input = Pick<CallInput, 'endpoint' | 'batch'>

function prepared(
  { toolServers, unread }: Registry,
  { endpoint: { dialect }, batch }: Input,
  caller: Pick<Caller, 'mayUseServer'>,
  { request, bytes }: Written,
): Prepared | undefined {
  if (!Object.hasOwn(request, 'tools') || wordsIn(request, 'tools', MCP)?.size === 0) return undefined
  const usable = (key: string): ToolServer | undefined => {
    const server = toolServers.get(key)
    return server?.enabled && caller.mayUseServer(key) ? server : undefined
  }
  const conversation = dialect?.tools
  const labelled = conversation?.labelled === true
  const asked = asList(request.tools).map(asRecord)
  const isManaged = (tool: JsonRecord) => {
    if (tool.type !== 'mcp' || tool.server_url != null) return false
    if (tool.server != null) return true
    const { server_label: label, connector_id } = tool
    if (!conversation || connector_id != null) return false
    // Chat has no `mcp` tools of vendors that name their server by a label.
    return !labelled || (typeof label === 'string' && usable(label) !== undefined)
  }
  const places = asked.flatMap((tool, index) => (isManaged(tool) ? [index] : []))
  const [first] = places
  if (first === undefined) return undefined
  if (!conversation || batch) throw refusal(`tools.${first}`, batch ? IN_BATCH : ELSEWHERE)
  refuseWhole(request)
  const servers = places.map((index) => readTool(asked[index] as JsonRecord, `tools.${index}`, usable, unread))
  const labels = new Map(servers.map(({ label, server }) => [label, server.key]))
  const own = asked.filter((_, index) => !places.includes(index))
  const { max_tool_calls: most } = request
  // A limit of the vendor's own tools, too, where there may be such.
  const isForAll = typeof most === 'number' && own.every(({ type }) => type === 'function')
  const { tool_choice: choice } = request
  const before = request[conversation.member]
  const history = conversation.history(request, (label) => labels.get(label))
  const changes: Record<string, unknown> = {
    tools: [...own, conversation.functionOf({ publicName: servers[0]?.label ?? '', ...ANY })],
    ...(isForAll ? { max_tool_calls: undefined } : {}),
    // A string, or nothing, stays what it is until there is more to say.
    ...(Array.isArray(before) ? { [conversation.member]: history } : {}),
    // What it names is known only once the servers have listed their tools.
    ...(namesServer(choice) ? { tool_choice: undefined } : {}),
  }
  const mostCalls = labelled && typeof most === 'number' && most >= 0 ? Math.min(most, MOST_CALLS) : MOST_CALLS
  return { ...edited({ request, bytes }, changes), tools: { servers, request, own, mostCalls } }
}

/** A conversation in which earlier answers tell of calls, without managed tools: no provider knows what tells of them. */
function retold(
  { toolServers }: Registry,
  conversation: ToolConversation | undefined,
  { request, bytes }: Written,
): Prepared | undefined {
  // Where there are no servers, conversations are not looked through.
  if (toolServers.size === 0 || !conversation?.tellsOfCalls?.(request)) return undefined
  const history = conversation.history(request, () => undefined)
  return { ...edited({ request, bytes }, { [conversation.member]: history }), tools: undefined }
}

function namesServer(choice: unknown): boolean {
  const { type, tools } = asRecord(choice)
  return type === 'mcp' || asList(tools).some((tool) => asRecord(tool).type === 'mcp')
}

/** What is said of the tools of a server before they are known. */
const ANY = { description: '', inputSchema: { type: 'object', properties: {} } }

const ELSEWHERE = 'Managed tools run on /v1/chat/completions and /v1/responses only. Leave it out.'
const IN_BATCH = 'Batches have no managed tools. Leave it out.'

function refuseWhole({ stream, n }: ModelRequest): void {
  if (stream === true) {
    throw refusal('stream', 'Answers with managed tools cannot be streamed. Leave out `stream`.')
  }
  if (typeof n === 'number' && n > 1) {
    throw refusal('n', 'Managed tools run for one answer, not for several. Leave out `n`.')
  }
}

function readTool(
  tool: JsonRecord,
  param: string,
  usable: (key: string) => ToolServer | undefined,
  unread: boolean,
): AskedServer {
  const { server: named, server_label: label, require_approval: approval } = tool
  const key = named ?? label
  const at = `${param}.${named == null && label != null ? 'server_label' : 'server'}`
  if (typeof key !== 'string') throw refusal(at, `'${at}' must be a string.`)
  const server = usable(key)
  if (!server) {
    if (unread) throw notReadYet()
    const message = `The tool server '${key.slice(0, 200)}' does not exist or you do not have access to it.`
    throw new GatewayError('not_found', message, { param: at, code: 'tool_server_not_found' })
  }
  if (approval != null && approval !== 'never') {
    const reason = `Managed tools run within the request, where no one can approve a call: only 'never' is possible.`
    throw refusal(`${param}.require_approval`, reason)
  }
  for (const field of ['headers', 'authorization']) {
    if (tool[field] == null) continue
    throw refusal(
      `${param}.${field}`,
      `How the gateway authenticates at '${key}' is set by its operator. Leave it out.`,
    )
  }
  return { server, label: typeof label === 'string' ? label : key, param, ...allowedBy(tool, param) }
}

/** The filter of a tool: a list of names, or the vendor's object of names and a mark for tools that change nothing. */
function allowedBy({ allowed_tools: given }: JsonRecord, param: string): Pick<AskedServer, 'allowed' | 'readOnly'> {
  if (given == null) return { allowed: undefined, readOnly: false }
  const { tool_names, read_only } = asRecord(given)
  const names = Array.isArray(given) ? given : tool_names
  const isList = Array.isArray(names) && names.every((name) => typeof name === 'string')
  if (!isList && (names != null || !isRecord(given))) {
    throw refusal(`${param}.allowed_tools`, `'${param}.allowed_tools' must be a list of names.`)
  }
  return { allowed: isList ? new Set(names) : undefined, readOnly: read_only === true }
}

function refusal(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param, code: 'unsupported_parameter' })
}
