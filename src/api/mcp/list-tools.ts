import type { JsonRecord } from '../../lib/json/lenient.ts'
import { describeError } from '../../lib/log.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { ToolServer } from '../../mcp/tool-server.ts'
import type { Tool } from '../../mcp/tool-servers.ts'
import { VIA_HEADER } from '../../mcp/via.ts'
import type { Scope } from '../scope.ts'
import { RpcFailure } from './json-rpc.ts'
import { usableServers } from './usable-servers.ts'

/** How long the tools of all other servers wait for those of one. */
const LIST_WAIT_MS = 10_000

/** The tools of one answer. Few clients ask for a second page. */
const MOST_TOOLS = 250
const MOST_BYTES = 1_048_576

/** How long clients may keep a list: as long as the gateway keeps those of the servers. */
const TTL_MS = 60_000

/** Under this name an answer lists the servers whose tools are missing. */
const AWAY = 'gateway/unavailable_servers'

/** The tools of every server that the caller may use, by name. Servers that do not answer are left out, and named. */
export async function listTools(scope: Scope, { cursor = '' }: JsonRecord): Promise<JsonRecord> {
  if (typeof cursor !== 'string' || !/^[\w-]{0,64}$/.test(cursor)) {
    throw new RpcFailure('invalidParams', 'cursor: was not given by a former page', { param: 'cursor' })
  }
  const servers = usableServers(scope.services, scope.caller())
  const lists = await Promise.all(servers.map((server) => toolsOf(scope, server)))
  const away = servers.filter((_, index) => lists[index] === undefined).map(({ key }) => key)
  const all = lists.flatMap((tools) => tools ?? []).filter(({ publicName }) => publicName > cursor)
  all.sort((one, other) => (one.publicName < other.publicName ? -1 : 1))
  const page = firstOf(all)
  const last = page.at(-1)
  return {
    tools: page.map(({ server: _server, publicName, ...told }) => ({ ...told, name: publicName })),
    ...(last && page.length < all.length ? { nextCursor: last.publicName } : {}),
    ...(away.length > 0 ? { _meta: { [AWAY]: away } } : {}),
  }
}

/** A list with how long it may be kept, and that it is the caller's own. */
export function withLifetime(list: JsonRecord): JsonRecord {
  return { ...list, ttlMs: list._meta ? 0 : TTL_MS, cacheScope: 'private' }
}

/** The tools of a server; undefined if it does not answer in time. */
async function toolsOf({ services, client, requestId, header }: Scope, server: ToolServer) {
  const { toolServers, timers, log } = services
  try {
    const listing = toolServers.tools(server, { signal: client.signal, via: header(VIA_HEADER) })
    return (await atMost(LIST_WAIT_MS, listing, timers))?.value
  } catch (error) {
    if (client.signal.aborted) throw error
    log.warn('mcp.list_failed', { requestId, server: server.key, error: describeError(error) })
    return undefined
  }
}

/** As many of the first as fit into an answer; one at least. */
function firstOf(tools: readonly Tool[]): readonly Tool[] {
  let bytes = 0
  const end = tools.findIndex((tool, index) => {
    bytes += bytesOf(tool)
    return index >= MOST_TOOLS || (bytes > MOST_BYTES && index > 0)
  })
  return end === -1 ? tools : tools.slice(0, end)
}

/** Caches the size of a tool: lists and their tools live long. */
const measured = new WeakMap<Tool, number>()

function bytesOf(tool: Tool): number {
  const known = measured.get(tool)
  if (known !== undefined) return known
  const bytes = JSON.stringify(tool).length
  measured.set(tool, bytes)
  return bytes
}
