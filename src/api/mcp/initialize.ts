import type { JsonRecord } from '../../lib/json/lenient.ts'
import { VERSION } from '../version.ts'
import { RpcFailure } from './json-rpc.ts'
import { negotiated } from './protocol-versions.ts'

/** Answers `initialize`: the gateway offers tools and nothing else. */
export function initialize({ protocolVersion }: JsonRecord): JsonRecord {
  if (typeof protocolVersion !== 'string')
    throw new RpcFailure('invalidParams', 'protocolVersion: must be a string', { param: 'protocolVersion' })
  return {
    protocolVersion: negotiated(protocolVersion),
    capabilities: { tools: {} },
    serverInfo: { name: 'model-gateway', title: 'Model gateway', version: VERSION },
    instructions: 'Tools of several servers. The name of each begins with the key of its server: <server>__<tool>.',
  }
}
