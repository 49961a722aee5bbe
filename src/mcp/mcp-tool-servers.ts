import type { Abort } from '../lib/abort.ts'
import type { JsonRecord } from '../lib/json/lenient.ts'
import { describeError, type Log, throttled } from '../lib/log.ts'
import { checkServer } from './check-server.ts'
import { within } from './deadline.ts'
import { type KeptList, keptList, REST_MS } from './listing/kept-list.ts'
import type { ToolListing } from './listing/list-tools.ts'
import { LIST_CHANGED, listed } from './listing/listed.ts'
import { asHeader, mirroredArguments, textAt } from './mirrored.ts'
import { plainText } from './plain-text.ts'
import { RPC_ERRORS } from './protocol.ts'
import { type Connecting, type ServerConnection, serverConnection } from './server-connection.ts'
import { toolResultOf } from './tool-result.ts'
import { isSameEnd, type ToolServer } from './tool-server.ts'
import { ToolFailure, type ToolProgress, type ToolServers } from './tool-servers.ts'
import { failureOf } from './wire/failures.ts'

/** What a process keeps of one server. */
interface Known {
  /** As it was last asked: how long it may take can change meanwhile. */
  server: ToolServer
  readonly connection: ServerConnection
  readonly list: KeptList
}

/** Asks servers of managed tools by the Model Context Protocol, over Streamable HTTP. */
export function mcpToolServers(options: Connecting & { readonly now: () => number; readonly log: Log }): ToolServers {
  const { timers, defer, now, log } = options
  const known = new Map<string, Known>()

  function knownOf(server: ToolServer): Known {
    const found = known.get(server.key)
    if (found && isSameEnd(found.server, server)) {
      found.server = server
      return found
    }
    void found?.connection.end()
    const made = newlyKnown(server)
    known.set(server.key, made)
    return made
  }

  function newlyKnown(server: ToolServer): Known {
    const own = serverConnection(server, options, () => made.server.timeoutMs)
    let reason = ''
    const report = throttled(60_000, now, (suppressed) =>
      log.warn('mcp.list_not_renewed', { server: server.key, error: reason, suppressed }),
    )
    const list = keptList({
      fetch: (via, signal) =>
        timed(made.server, signal, (limited) => listed(server, own, limited, via, () => list.changed())),
      now,
      defer,
      failed(error) {
        reason = describeError(error)
        report()
      },
      hung: (error) =>
        error instanceof ToolFailure && error.kind === 'timeout'
          ? failureOf(
              server,
              'timeout',
              `did not answer when it was last asked, and is left alone for ${REST_MS / 1000} s`,
            )
          : undefined,
    })
    const made: Known = { server, connection: own, list }
    return made
  }

  /** Work under the time limit of a server. */
  function timed<Result>(
    server: ToolServer,
    signal: Abort | undefined,
    work: (signal: Abort) => Promise<Result>,
  ): Promise<Result> {
    const late = () => failureOf(server, 'timeout', `did not answer within ${server.timeoutMs} ms`)
    return within({ ms: server.timeoutMs, late, timers, ...(signal ? { signal } : {}) }, work)
  }

  return {
    gateway: options.gateway,
    async tools(server, { signal, via }) {
      return (await knownOf(server).list.get(signal, via)).tools
    },
    call(server, tool, args, { signal, via, progress }) {
      const { connection: own, list } = knownOf(server)
      const params = (id: number) => ({
        name: tool,
        arguments: args,
        ...(progress ? { _meta: { progressToken: id } } : {}),
      })
      const heard = (method: string, told: JsonRecord, id: number) => {
        if (method === LIST_CHANGED) list.changed()
        else if (method === PROGRESS && told.progressToken === id) progress?.(progressOf(told))
      }
      return timed(server, signal, async (limited) => {
        try {
          const mirrors = mirrorsOf(list.last(), tool, args)
          return toolResultOf(await own.request({ method: 'tools/call', params, mirrors, heard, via }, limited))
        } catch (error) {
          if (isOfHeaders(error)) list.changed()
          throw isUnknown(error, tool, list.last())
            ? failureOf(server, 'unknown_tool', `has no tool '${plainText(tool, 100)}'`, { cause: error })
            : error
        }
      })
    },
    check: (server, { signal }) => timed(server, signal, (limited) => checkServer(server, options, limited, now)),
    keep(servers) {
      for (const [key, { server, connection: own }] of known) {
        const kept = servers.get(key)
        if (kept?.enabled && isSameEnd(kept, server)) continue
        known.delete(key)
        void own.end()
      }
    },
    async end() {
      const ending = [...known.values()].map(({ connection: own }) => own.end())
      known.clear()
      await Promise.all(ending)
    },
  }
}

const PROGRESS = 'notifications/progress'
const LONGEST_MESSAGE = 500

function progressOf({ progress, total, message }: JsonRecord): ToolProgress {
  return {
    progress: typeof progress === 'number' ? progress : 0,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string' ? { message: plainText(message, LONGEST_MESSAGE) } : {}),
  }
}

/** The headers that repeat arguments of a call, as the tool asks for them. */
function mirrorsOf(listing: ToolListing | undefined, tool: string, args: JsonRecord): Record<string, string> {
  const schema = listing?.tools.find(({ name }) => name === tool)?.inputSchema
  const texts = ((schema && mirroredArguments(schema)) ?? []).map(({ header, path }) => [header, textAt(args, path)])
  return Object.fromEntries(texts.flatMap(([header, text]) => (text === undefined ? [] : [[header, asHeader(text)]])))
}

/** Whether the tool has other arguments repeated than when it was listed. */
function isOfHeaders(error: unknown): boolean {
  return error instanceof ToolFailure && error.rpc?.code === RPC_ERRORS.headerMismatch
}

/** Servers have one code for an unknown tool and for wrong arguments. */
function isUnknown(error: unknown, tool: string, listing: ToolListing | undefined): boolean {
  if (!(error instanceof ToolFailure) || error.kind !== 'invalid_params' || !listing) return false
  return !listing.tools.some(({ name }) => name === tool)
}
