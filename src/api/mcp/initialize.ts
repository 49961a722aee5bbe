import type { JsonRecord } from '../../lib/json/lenient.ts'
import { VERSION } from '../version.ts'
import { RpcFailure } from './json-rpc.ts'
import { negotiated, VERSIONS } from './protocol-versions.ts'

/** The gateway as it names itself to clients. */
export const SERVER = { name: 'model-gateway', title: 'Model gateway', version: VERSION }

/** The gateway offers tools and nothing else. */
const OFFER = {
  capabilities: { tools: {} },
  instructions: 'Tools of several servers. The name of each begins with the key of its server: <server>__<tool>.',
}

/** Answers `initialize`. */
export function initialize({ protocolVersion }: JsonRecord): JsonRecord {
  if (typeof protocolVersion !== 'string')
    throw new RpcFailure('invalidParams', 'protocolVersion: must be a string', { param: 'protocolVersion' })
  return { protocolVersion: negotiated(protocolVersion), serverInfo: SERVER, ...OFFER }
}

/** Answers `server/discover`, which needs no session. */
export function discover(): JsonRecord {
  return { supportedVersions: VERSIONS, ...OFFER, ttlMs: 3_600_000, cacheScope: 'public' }
}
