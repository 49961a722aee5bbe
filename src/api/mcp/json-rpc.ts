import type { GatewayError } from '../../lib/errors.ts'
import { isExactInteger } from '../../lib/json/exact-json.ts'
import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { RPC_ERRORS } from '../../mcp/protocol.ts'

/** `object`: an integer that a double would round. JSON.stringify writes it as it came. */
export type RpcId = string | number | object

/** The codes of JSON-RPC, of MCP, and of this gateway. */
export const RPC_CODES = {
  ...RPC_ERRORS,
  parseError: -32700,
  invalidRequest: -32600,
  internalError: -32603,
  /** The gateway refuses the request: credentials, limits, size. */
  refused: -32000,
  cancelled: -32800,
} as const

/** What a failure says in `data`, beside the id of the HTTP request: the members of every error of this gateway, and those
 *  that MCP asks for. */
interface FailureData {
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  readonly supported?: readonly string[]
  readonly requested?: string
}

/** A request that cannot be answered with a result. Its message is for the client. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure'
  readonly code: number
  readonly data: FailureData

  constructor(code: keyof typeof RPC_CODES, message: string, data: Partial<FailureData> = {}) {
    super(message)
    this.code = RPC_CODES[code]
    this.data = { type: 'invalid_request_error', code: 'invalid_request', param: null, ...data }
  }
}

export interface RpcRequest {
  readonly kind: 'request'
  readonly id: RpcId
  readonly method: string
  readonly params: JsonRecord
}

export interface RpcNotification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonRecord
}

export type RpcMessage =
  | RpcRequest
  | RpcNotification
  /** The client's answer to a request, of which this gateway sends none. */
  | { readonly kind: 'response' }
  | { readonly kind: 'invalid'; readonly id: RpcId | null; readonly failure: RpcFailure }

/** One message of a body. */
export function messageIn(value: unknown): RpcMessage {
  if (!isRecord(value)) return invalid(null, 'A message must be an object.')
  const { jsonrpc, id, method, params = {} } = value
  const knownId = isId(id) ? id : null
  if (jsonrpc !== '2.0') return invalid(knownId, 'jsonrpc: must be "2.0"', 'jsonrpc')
  if (method === undefined && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))) {
    return knownId === null ? invalid(null, 'id: must be that of a request', 'id') : { kind: 'response' }
  }
  if (typeof method !== 'string') return invalid(knownId, 'method: must be a string', 'method')
  if (id !== undefined && knownId === null) return invalid(null, 'id: must be a string or a whole number', 'id')
  if (!isRecord(params)) return invalid(knownId, 'params: must be an object', 'params')
  return knownId === null ? { kind: 'notification', method, params } : { kind: 'request', id: knownId, method, params }
}

export function isId(value: unknown): value is RpcId {
  if (typeof value === 'object') return value !== null && isExactInteger(value)
  return typeof value === 'string' || Number.isInteger(value)
}

function invalid(id: RpcId | null, message: string, param: string | null = null): RpcMessage {
  return { kind: 'invalid', id, failure: new RpcFailure('invalidRequest', message, { param }) }
}

export const resultOf = (id: RpcId, result: object) => ({ jsonrpc: '2.0', id, result })

export function failureOf(id: RpcId | null, { code, message, data }: RpcFailure, requestId: string): object {
  return { jsonrpc: '2.0', id, error: { code, message, data: { ...data, request_id: requestId } } }
}

/** A refusal of the gateway in the shape of JSON-RPC. Nothing of the body may have been read: the id is unknown. */
export function rpcErrorBody(error: GatewayError, requestId: string): object {
  return failureOf(null, asRpcFailure(error), requestId)
}

export function asRpcFailure(error: GatewayError): RpcFailure {
  const { code, message, row, details } = error
  return new RpcFailure(rpcCodeOf(error), message, { type: row.type, code, param: details.param ?? null })
}

function rpcCodeOf({ code, failure }: GatewayError): keyof typeof RPC_CODES {
  if (code === 'invalid_json') return 'parseError'
  if (failure === 'internal') return 'internalError'
  return failure === 'invalid_request' ? 'invalidRequest' : 'refused'
}
