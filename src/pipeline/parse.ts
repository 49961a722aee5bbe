import { GatewayError } from '../lib/errors.ts'
import { outline, parseLazily } from '../lib/lazy-json.ts'
import { MalformedForm } from '../lib/multipart.ts'
import { readForm } from '../modes/form.ts'
import type { ModelRequest } from '../modes/mode.ts'
import type { CallInput } from './call.ts'

export type Parsed = { readonly request: ModelRequest; readonly error?: never } | { readonly error: GatewayError }

/** What a body holds, and what of it its schema looks at. */
interface Read {
  readonly body: unknown
  readonly shape: unknown
}

/** Reads a request body. A mistake is returned, not thrown: limits are counted before anybody is told about it. */
export function parse(input: CallInput): Parsed {
  const { mode, dialect } = input.endpoint
  const read = mode.body === 'json' ? readJson(input.bytes) : readMultipart(input.bytes, input.contentType)
  if (read instanceof GatewayError) return { error: read }
  const result = (dialect?.schema ?? mode.schema).safeParse(read.shape)
  // JSON stays the object that was parsed; a form's text is given its types by the schema.
  if (result.success) return { request: mode.body === 'json' ? (read.body as ModelRequest) : result.data }
  const issue = result.error.issues[0]
  const path = issue?.path.map(String).join('.') ?? ''
  const message = path === '' ? 'The request body must be a JSON object.' : `${path}: ${issue?.message}`
  return { error: new GatewayError('invalid_request', message, path === '' ? {} : { param: path }) }
}

function readJson(bytes: Uint8Array): Read | GatewayError {
  try {
    const body = parseLazily(bytes)
    return { body, shape: outline(body) }
  } catch {
    return new GatewayError('invalid_request', 'The request body is not valid JSON.', { code: 'invalid_json' })
  }
}

function readMultipart(bytes: Uint8Array, contentType: string): Read | GatewayError {
  try {
    const body = readForm(bytes, contentType)
    return { body, shape: body }
  } catch (error) {
    if (!(error instanceof MalformedForm)) throw error
    const message = `The request body is not a valid multipart form: ${error.message}.`
    return new GatewayError('invalid_request', message, { code: 'invalid_form' })
  }
}
