import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { fromHeader } from '../../mcp/mirrored.ts'
import { META } from '../../mcp/protocol.ts'
import { SERVER } from './initialize.ts'
import { RpcFailure, type RpcRequest } from './json-rpc.ts'
import { methodOf } from './methods.ts'
import { isStateless, VERSIONS } from './protocol-versions.ts'

type Header = (name: string) => string | undefined

/** Whether a request tells by itself which version it speaks, as those of MCP 2026-07-28 do: in `_meta`, and again in a
 *  header. */
export function tellsItsVersion({ params: { _meta } }: RpcRequest, header: Header): boolean {
  return (isRecord(_meta) && Object.hasOwn(_meta, META.version)) || isStateless(header('mcp-protocol-version'))
}

/** Throws where such a request lacks what it must tell, or tells something else in its headers: others on its way may have
 *  read only those. */
export function requireWhole({ method, params }: RpcRequest, header: Header): void {
  const meta = isRecord(params._meta) ? params._meta : {}
  const version = meta[META.version]
  if (typeof version !== 'string') throw lacks(META.version)
  requireSame('mcp-protocol-version', header('mcp-protocol-version'), version)
  if (!isStateless(version)) {
    const data = { param: '_meta', supported: VERSIONS, requested: version }
    throw new RpcFailure('unsupportedVersion', `This version is not spoken here. Send ${VERSIONS[0]}.`, data)
  }
  if (!isRecord(meta[META.capabilities])) throw lacks(META.capabilities)
  requireSame('mcp-method', header('mcp-method'), method)
  methodOf(method, true)
  if (method === 'tools/call') requireSame('mcp-name', fromHeader(header('mcp-name')), params.name)
}

/** What each result to such a request has besides. */
export function wholeResult(result: JsonRecord): JsonRecord {
  const meta = isRecord(result._meta) ? result._meta : {}
  return { ...result, resultType: 'complete', _meta: { ...meta, [META.server]: SERVER } }
}

function lacks(field: string): RpcFailure {
  return new RpcFailure('invalidParams', `_meta: lacks ${field}`, { param: '_meta' })
}

function requireSame(name: string, told: string | undefined, inBody: unknown): void {
  if (told === inBody) return
  const words = told === undefined ? 'is missing, or cannot be read' : 'differs from what the body says'
  throw new RpcFailure('headerMismatch', `${name}: this header ${words}`, { param: name })
}
