import type * as z from 'zod'
import { GatewayError } from '../lib/errors.ts'
import { outline, parseLazily } from '../lib/lazy-json.ts'
import type { ModelRequest } from '../modes/mode.ts'
import type { CallInput } from './call.ts'

export type Parsed = { readonly request: ModelRequest; readonly error?: never } | { readonly error: GatewayError }

/** Reads a request body. A mistake is returned, not thrown: limits are counted before anybody is told about it. */
export function parse(input: CallInput): Parsed {
  const { mode, dialect } = input.endpoint
  let body: ModelRequest
  try {
    body = parseLazily(input.bytes) as ModelRequest
  } catch {
    return {
      error: new GatewayError('invalid_request', 'The request body is not valid JSON.', { code: 'invalid_json' }),
    }
  }
  // JSON stays the object that was parsed.
  return checked(outline(body), dialect?.schema ?? mode.schema, () => body)
}

/** What of a body its schema looks at, as the request that it is. */
export function checked(
  shape: unknown,
  schema: z.ZodType<ModelRequest>,
  request: (valid: ModelRequest) => ModelRequest,
): Parsed {
  const result = schema.safeParse(shape)
  if (result.success) return { request: request(result.data) }
  const issue = result.error.issues[0]
  const path = issue?.path.map(String).join('.') ?? ''
  const message = path === '' ? 'The request body must be a JSON object.' : `${path}: ${issue?.message}`
  return { error: new GatewayError('invalid_request', message, path === '' ? {} : { param: path }) }
}
