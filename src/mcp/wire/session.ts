import type { Abort } from '../../lib/abort.ts'
import { asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import { plainText } from '../plain-text.ts'
import { META, RPC_ERRORS, STATELESS_VERSION, VERSIONS_WITH_INITIALIZE } from '../protocol.ts'
import { ToolFailure } from '../tool-servers.ts'
import { ask, tell } from './exchange.ts'
import { failureOf } from './failures.ts'
import type { End, SessionHead } from './http.ts'
import { CLIENT } from './stateless.ts'

const MOST_TEXT = 4000
/** What a header can hold. */
const SESSION_ID = /^[\x21-\x7e]{1,512}$/

/** What a server said when it was first asked. */
export interface ServerSession extends SessionHead {
  readonly name: string
  readonly version: string
  readonly instructions: string
}

/** The errors of servers that know no `initialize`, or want each request to tell its version. */
const OF_STATELESS: ReadonlySet<number | undefined> = new Set([
  RPC_ERRORS.headerMismatch,
  RPC_ERRORS.missingCapability,
  RPC_ERRORS.unsupportedVersion,
  RPC_ERRORS.methodNotFound,
  RPC_ERRORS.invalidParams,
])

/** Agrees with a server on a version of the protocol, and opens a session where it keeps them. Servers that speak older
 *  versions are asked in one of those, whatever else they speak. */
export async function openSession(
  end: Omit<End, 'session'>,
  nextId: () => number,
  signal: Abort,
): Promise<ServerSession> {
  let refusal: unknown
  try {
    const session = await initialized(end, nextId(), signal)
    if (session) return session
  } catch (error) {
    if (!(error instanceof ToolFailure) || !OF_STATELESS.has(error.rpc?.code)) throw error
    refusal = error
  }
  try {
    return await discovered(end, nextId(), signal)
  } catch (error) {
    throw signal.aborted ? error : (refusal ?? error)
  }
}

/** What a server without sessions says of itself. */
async function discovered(end: Omit<End, 'session'>, id: number, signal: Abort): Promise<ServerSession> {
  const head = { id: undefined, protocolVersion: STATELESS_VERSION }
  const { result } = await ask({ ...end, session: head }, { id, method: 'server/discover' }, signal)
  const told = asRecord(result._meta)[META.server] ?? result.serverInfo
  return { ...head, ...wordsOf(asRecord(told), result.instructions) }
}

/** Opens a session; undefined for a server that chooses the version without them. */
async function initialized(end: Omit<End, 'session'>, id: number, signal: Abort): Promise<ServerSession | undefined> {
  const { server } = end
  const params = { protocolVersion: VERSIONS_WITH_INITIALIZE[0], capabilities: {}, clientInfo: CLIENT }
  const { result, headers } = await ask(end, { id, method: 'initialize', params }, signal)
  const protocolVersion = asText(result.protocolVersion)
  if (protocolVersion === STATELESS_VERSION) return undefined
  if (!VERSIONS_WITH_INITIALIZE.some((known) => known === protocolVersion)) {
    const said = protocolVersion === '' ? 'no version of MCP' : `version ${plainText(protocolVersion, 40)} of MCP`
    throw failureOf(server, 'protocol', `speaks ${said}, and the gateway ${VERSIONS_WITH_INITIALIZE.join(', ')}`)
  }
  const sessionId = headers['mcp-session-id']
  if (sessionId !== undefined && !SESSION_ID.test(sessionId)) {
    throw failureOf(server, 'protocol', 'gave its session an invalid id')
  }
  const session = { id: sessionId, protocolVersion, ...wordsOf(asRecord(result.serverInfo), result.instructions) }
  await tell({ ...end, session }, { method: 'notifications/initialized' }, signal)
  return session
}

function wordsOf({ name, version }: JsonRecord, instructions: unknown): Omit<ServerSession, keyof SessionHead> {
  return {
    name: plainText(asText(name), 200),
    version: plainText(asText(version), 100),
    instructions: plainText(asText(instructions), MOST_TEXT),
  }
}
