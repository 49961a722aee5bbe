import type * as z from 'zod'
import { GatewayError } from '../../lib/errors.ts'
import { boundJson, REQUEST_BOUNDS } from '../../lib/json/json-bounds.ts'
import { acceptBuilt, outline, parseLazily, sourceOf } from '../../lib/json/lazy-json.ts'
import type { Mode, ModelRequest } from '../../modes/mode.ts'
import type { CallInput } from '../call-input.ts'
import { checked, type Parsed } from './checked.ts'

/** Reads a request body. A mistake is returned, not thrown: limits are counted before anybody is told about it. */
export function parse(input: CallInput): Parsed {
  const { mode, dialect } = input.endpoint
  let body: ModelRequest
  try {
    boundJson(input.bytes, REQUEST_BOUNDS)
    body = parseLazily(input.bytes) as ModelRequest
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
  // JSON stays the object that was parsed.
  const schema = (dialect?.schema ?? mode.schema)()
  return sourceOf(body) ? checkedByShape(body, schema, mode) : checked(body, schema, () => body)
}

/** Some providers do not mind capital letters in the names of members: they would run another model than the one that
 *  was looked at here. */
function twoModels(key: string): GatewayError {
  return new GatewayError('invalid_request', `${key}: leave it out; the model is named by 'model'.`, { param: key })
}

/** What has a provider answer when its caller has gone, by the names that it has at different vendors. */
function isLater(key: string): boolean {
  if (key.length !== 10 && key.length !== 8) return false
  const name = key.toLowerCase()
  return name === 'background' || name === 'deferred'
}

function asksFor(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false
}

/** Nobody here would follow such an answer to its end, so nobody would know what it cost. */
function answersLater(key: string): GatewayError {
  const message = `${key}: answers that are fetched later are not supported here. Leave it out, and stream where an answer takes long.`
  return new GatewayError('invalid_request', message, { param: key, code: 'unsupported_parameter' })
}

/** A body with members that nobody has read yet. Of a long list its shape shows the first item: whoever reads them all
 *  may trust the others as much. */
function checkedByShape(body: ModelRequest, schema: z.ZodType<ModelRequest>, mode: Mode): Parsed {
  try {
    const shape = outline(body) as object
    const parsed = checked(shape, schema, () => body)
    if (parsed.error) return parsed
    acceptBuilt(body, (key, built) => {
      const { error } = checked({ ...shape, [key]: built }, schema, () => body)
      if (error) throw error
    })
    // What a call is billed by is read before it runs: nothing can be refused any more when it has.
    mode.measure(body)
    return parsed
  } catch (error) {
    if (error instanceof GatewayError) return { error }
    throw error
  }
}
