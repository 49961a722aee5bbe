import { GatewayError } from '../../lib/errors.ts'
import { STATELESS_VERSION, VERSIONS_WITH_INITIALIZE } from '../../mcp/protocol.ts'

/** The versions of the protocol that clients may speak, newest first. */
export const VERSIONS = [STATELESS_VERSION, ...VERSIONS_WITH_INITIALIZE] as const
export type ProtocolVersion = (typeof VERSIONS)[number]

/** The last version before the header, in which bodies could be lists of messages. */
const WITHOUT_HEADER = '2025-03-26'

export function isStateless(version: string | undefined): boolean {
  return version === STATELESS_VERSION
}

/** The client's version if it is known, else the newest with `initialize`, which the client may decline. */
export function negotiated(asked: string): ProtocolVersion {
  return VERSIONS_WITH_INITIALIZE.find((known) => known === asked) ?? VERSIONS_WITH_INITIALIZE[0]
}

/** The version that a message after `initialize` names in its header. */
export function versionOf(header: string | undefined): ProtocolVersion {
  if (header === undefined) return WITHOUT_HEADER
  const version = VERSIONS.find((known) => known === header)
  if (version) return version
  const message = `MCP-Protocol-Version: this version is not spoken here. Send one of ${VERSIONS.join(', ')}.`
  throw new GatewayError('invalid_request', message, { param: 'mcp-protocol-version' })
}

/** Whether a body may be a list of messages. */
export function hasBatches(version: ProtocolVersion): boolean {
  return version === WITHOUT_HEADER
}
