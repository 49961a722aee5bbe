import { isExactInteger, parseExactly } from '../../lib/json/exact-json.ts'
import { boundJson } from '../../lib/json/json-bounds.ts'
import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { RpcError } from '../tool-servers.ts'

/** A message of JSON-RPC 2.0, as far as it can be told apart. */
export type RpcMessage =
  | { readonly kind: 'result'; readonly id: unknown; readonly result: JsonRecord }
  | { readonly kind: 'error'; readonly id: unknown; readonly error: RpcError }
  /** `id`: an object that JSON.stringify writes as it came, where it is an integer of 64 bits. */
  | { readonly kind: 'request'; readonly id: string | number | object; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonRecord }

const BOUNDS = { own: 10_000, members: 200_000, texts: 1_000_000, commas: 5_000_000, levels: 100 } as const
const NONE: JsonRecord = {}
const encoder = new TextEncoder()

/** The messages in a text: one, or a list of them. What is no message is left out. Throws a SyntaxError if it is no JSON,
 *  and a RangeError if it is nested too deeply or has too many members: both before any of it is built. */
export function messagesIn(text: string): RpcMessage[] {
  try {
    boundJson(encoder.encode(text), BOUNDS)
  } catch (error) {
    throw new RangeError('nested too deeply, or too many members', { cause: error })
  }
  const found = parseExactly(text)
  return (Array.isArray(found) ? found : [found]).flatMap((value) => messageOf(value) ?? [])
}

function messageOf(value: unknown): RpcMessage | undefined {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined
  const { id, method, params, result, error } = value
  if (typeof method === 'string') {
    if (isId(id)) return { kind: 'request', id, method }
    return { kind: 'notification', method, params: isRecord(params) ? params : NONE }
  }
  if (isRecord(result)) return { kind: 'result', id, result }
  if (isRecord(error) && typeof error.code === 'number') {
    const message = typeof error.message === 'string' ? error.message : ''
    return {
      kind: 'error',
      id,
      error: { code: error.code, message, ...(error.data === undefined ? {} : { data: error.data }) },
    }
  }
  return undefined
}

function isId(value: unknown): value is string | number | object {
  if (typeof value === 'object') return value !== null && isExactInteger(value)
  return typeof value === 'string' || typeof value === 'number'
}
