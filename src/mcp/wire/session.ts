import type { Abort } from '../../lib/abort.ts'
import { asRecord, asText } from '../../lib/json/lenient.ts'
import { plainText } from '../plain-text.ts'
import { ask, tell } from './exchange.ts'
import { failureOf } from './failures.ts'
import type { End, SessionHead } from './http.ts'

/** The newest first, which is asked for. */
const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
const CLIENT = { name: 'model-gateway', version: '0.1.0' }
const MOST_TEXT = 4000
/** What a header can hold. */
const SESSION_ID = /^[\x21-\x7e]{1,512}$/

/** What a server said when it was first asked. */
export interface Session extends SessionHead {
  readonly name: string
  readonly version: string
  readonly instructions: string
}

/** Agrees with a server on a version of the protocol, and opens a session where it keeps them. */
export async function openSession(end: Omit<End, 'session'>, id: number, signal: Abort): Promise<Session> {
  const { server } = end
  const params = { protocolVersion: PROTOCOL_VERSIONS[0], capabilities: {}, clientInfo: CLIENT }
  const { result, headers } = await ask(end, { id, method: 'initialize', params }, signal)
  const protocolVersion = asText(result.protocolVersion)
  if (!PROTOCOL_VERSIONS.some((known) => known === protocolVersion)) {
    const said = protocolVersion === '' ? 'no version of MCP' : `version ${plainText(protocolVersion, 40)} of MCP`
    throw failureOf(server, 'protocol', `speaks ${said}, and the gateway ${PROTOCOL_VERSIONS.join(', ')}`)
  }
  const sessionId = headers['mcp-session-id']
  if (sessionId !== undefined && !SESSION_ID.test(sessionId)) {
    throw failureOf(server, 'protocol', 'gave its session an invalid id')
  }
  const { name, version } = asRecord(result.serverInfo)
  const session: Session = {
    id: sessionId,
    protocolVersion,
    name: plainText(asText(name), 200),
    version: plainText(asText(version), 100),
    instructions: plainText(asText(result.instructions), MOST_TEXT),
  }
  await tell({ ...end, session }, { method: 'notifications/initialized' }, signal)
  return session
}
