import type * as z from 'zod'
import { GatewayError } from '../../lib/errors.ts'
import { acceptanceOf } from '../../lib/json/acceptance.ts'
import { parseExactlyWithin } from '../../lib/json/exact-json.ts'
import { boundJson, REQUEST_BOUNDS } from '../../lib/json/json-bounds.ts'
import { acceptBuilt, outline, parseLazily, sourceOf } from '../../lib/json/lazy-json.ts'
import type { Mode, ModelRequest } from '../../modes/mode.ts'
import type { CallInput } from '../call-input.ts'
import { checked, type Parsed } from './checked.ts'
import { traceOf } from './trace.ts'

/** Parses a request body. */
export function parse(input: Pick<CallInput, 'endpoint' | 'bytes'>): Parsed {
  const { mode, dialect } = input.endpoint
  let body: ModelRequest
  try {
    const mayBeLong = boundJson(input.bytes, REQUEST_BOUNDS)
    const exact = mayBeLong ? dialect?.exactMembers : undefined
    body = parseLazily(input.bytes, exact && ((text) => parseExactlyWithin(text, exact))) as ModelRequest
  } catch (error) {
    if (error instanceof GatewayError) return { error }
    return {
      error: new GatewayError('invalid_request', 'The request body is not valid JSON.', { code: 'invalid_json' }),
    }
  }
  for (const key in body) {
    if (key.length === 5 && key !== 'model' && key.toLowerCase() === 'model') return { error: twoModels(key) }
    if (dialect && isLater(key) && asksFor(body[key])) return { error: answersLater(key) }
  }
  // The request stays the parsed object, not the schema's copy.
  const schema = (dialect?.schema ?? mode.schema)()
  if (sourceOf(body)) return checkedByShape(body, schema, mode)
  return acceptanceOf(schema)(body) ? { request: body } : checked(body, schema, () => body)
}

/** Some providers ignore the case of member names and would run another model than the one that was checked here. */
function twoModels(key: string): GatewayError {
  return new GatewayError('invalid_request', `${key}: leave it out; the model is named by 'model'.`, { param: key })
}

/** Members that request a deferred answer, by their names at different vendors. */
function isLater(key: string): boolean {
  if (key.length !== 10 && key.length !== 8) return false
  const name = key.toLowerCase()
  return name === 'background' || name === 'deferred'
}

function asksFor(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false
}

/** The gateway does not poll deferred answers, so their cost would stay unknown. */
function answersLater(key: string): GatewayError {
  const message = `${key}: answers that are fetched later are not supported here. Leave it out, and stream where an answer takes long.`
  return new GatewayError('invalid_request', message, { param: key, code: 'unsupported_parameter' })
}

/** Checks a body whose long members are not parsed yet. The shape shows the first item of a long list; each member is
 *  checked in full when it is built. */
function checkedByShape(body: ModelRequest, schema: z.ZodType<ModelRequest>, mode: Mode): Parsed {
  try {
    const shape = outline(body) as object
    const parsed = checked(shape, schema, () => body)
    if (parsed.error) return parsed
    const accepts = acceptanceOf(schema)
    acceptBuilt(body, (key, built) => {
      const seen = { ...shape, [key]: built }
      if (accepts(seen)) return
      const { error } = checked(seen, schema, () => body)
      if (error) throw error
    })
    // What is measured and told of the call is read before it runs, because afterwards nothing can be refused.
    mode.measure(body)
    traceOf(body, undefined)
    return parsed
  } catch (error) {
    if (error instanceof GatewayError) return { error }
    throw error
  }
}
