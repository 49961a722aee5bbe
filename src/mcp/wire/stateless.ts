import { asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { asHeader } from '../mirrored.ts'
import { META, STATELESS_VERSION } from '../protocol.ts'
import type { SessionHead } from './http.ts'

/** The gateway as it names itself to servers. */
export const CLIENT = { name: 'model-gateway', version: '0.1.0' }

export function isStateless(session: SessionHead | undefined): session is SessionHead {
  return session?.protocolVersion === STATELESS_VERSION
}

/** A message with what it has to tell. */
export function wholeMessage({ protocolVersion }: SessionHead, message: JsonRecord): JsonRecord {
  const params = asRecord(message.params)
  const _meta = {
    ...asRecord(params._meta),
    [META.version]: protocolVersion,
    [META.client]: CLIENT,
    [META.capabilities]: {},
  }
  return { ...message, params: { ...params, _meta } }
}

/** Its headers, which repeat what those on its way may want to read. */
export function wholeHeaders({ method, params }: JsonRecord): Record<string, string> {
  const { name } = asRecord(params)
  return {
    'mcp-method': String(method),
    ...(method === 'tools/call' ? { 'mcp-name': asHeader(String(name)) } : {}),
  }
}
