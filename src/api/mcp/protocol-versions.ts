import { GatewayError } from '../../lib/errors.ts'

/** The versions of the protocol that clients may speak, newest first. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
export type ProtocolVersion = (typeof VERSIONS)[number]

/** The last version before the header, in which bodies could be lists of messages. */
const WITHOUT_HEADER = '2025-03-26'

function isKnown(version: unknown): version is ProtocolVersion {
  return VERSIONS.some((known) => known === version)
}

/** The client's version if it is known, else the newest, which the client may decline. */
export function negotiated(asked: string): ProtocolVersion {
  return isKnown(asked) ? asked : VERSIONS[0]
}

/** The version that a request after `initialize` names in its header. */
export function versionOf(header: string | undefined): ProtocolVersion {
  if (header === undefined) return WITHOUT_HEADER
  if (isKnown(header)) return header
  const message = `MCP-Protocol-Version: this version is not spoken here. Send one of ${VERSIONS.join(', ')}.`
  throw new GatewayError('invalid_request', message, { param: 'mcp-protocol-version' })
}

/** Whether a body may be a list of messages. */
export function hasBatches(version: ProtocolVersion): boolean {
  return version === WITHOUT_HEADER
}
