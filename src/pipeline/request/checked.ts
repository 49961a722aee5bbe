import type * as z from 'zod'
import { GatewayError } from '../../lib/errors.ts'
import type { ModelRequest } from '../../modes/mode.ts'

export type Parsed = { readonly request: ModelRequest; readonly error?: never } | { readonly error: GatewayError }

/** Only the first issue is reported. Describing an issue takes longer than sending it, and a body can hold a million. */
const FIRST_MISTAKE = { abortEarly: true } as z.core.ParseContext<z.core.$ZodIssue>

/** Validates what the schema checks of a body and returns the request. */
export function checked(
  shape: unknown,
  schema: z.ZodType<ModelRequest>,
  request: (valid: ModelRequest) => ModelRequest,
): Parsed {
  const result = schema.safeParse(shape, FIRST_MISTAKE)
  if (result.success) return { request: request(result.data) }
  const issue = result.error.issues[0]
  const path = issue?.path.map(String).join('.') ?? ''
  const message = path === '' ? 'The request body must be a JSON object.' : `${path}: ${issue?.message}`
  return { error: new GatewayError('invalid_request', message, path === '' ? {} : { param: path }) }
}
