import { GatewayError } from '../lib/errors.ts'
import type { Mode, ModelRequest } from '../modes/mode.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

export type Parsed = { readonly request: ModelRequest; readonly error?: never } | { readonly error: GatewayError }

/** Reads a request body. A mistake is returned, not thrown: limits are counted before anybody is told about it. */
export function parse(bytes: Uint8Array, mode: Mode): Parsed {
  let body: unknown
  try {
    body = JSON.parse(decoder.decode(bytes))
  } catch {
    return {
      error: new GatewayError('invalid_request', 'The request body is not valid JSON.', { code: 'invalid_json' }),
    }
  }
  const result = mode.schema.safeParse(body)
  if (result.success) return { request: body as ModelRequest }
  const issue = result.error.issues[0]
  const path = issue?.path.map(String).join('.') ?? ''
  const message = path === '' ? 'The request body must be a JSON object.' : `${path}: ${issue?.message}`
  return { error: new GatewayError('invalid_request', message, path === '' ? {} : { param: path }) }
}
