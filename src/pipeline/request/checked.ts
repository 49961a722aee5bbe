import type * as z from 'zod'
import { GatewayError } from '../../lib/errors.ts'
import type { ModelRequest } from '../../modes/mode.ts'

/** A refusal that is returned, not thrown: the limits of a call are counted before its client gets the refusal. */
export interface Refusal {
  readonly error: GatewayError
}

export type Parsed = { readonly request: ModelRequest; readonly error?: never } | Refusal

/** The result, or the refusal: reading a long member may reveal that the request is malformed. */
export function unlessMalformed<Made>(make: () => Made): Made | Refusal {
  try {
    return make()
  } catch (error) {
    if (error instanceof GatewayError && error.failure === 'invalid_request') return { error }
    throw error
  }
}

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
