import type * as z from 'zod'
import { accepted } from '../../config/accepted.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Footprint } from '../../lib/footprints.ts'
import { parseExactly } from '../../lib/json/exact-json.ts'
import { boundJson, RECORD_BOUNDS } from '../../lib/json/json-bounds.ts'
import type { Client } from '../../pipeline/client.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The JSON body of a request, checked by its schema and passed on unchanged. Its memory is counted while it arrives.
 *  An empty body is undefined where the schema accepts that. */
export async function readJson(
  { client, footprint }: { readonly client: Client; readonly footprint: Footprint },
  contentType: string | undefined,
  schema: z.ZodType,
  { limit, exact }: { readonly limit: number; readonly exact: boolean },
): Promise<unknown> {
  const isJson = /^application\/json\b/i.test(contentType ?? '')
  const mayBeMissing = schema.safeParse(undefined).success
  if (!isJson && !mayBeMissing) throw notJson()
  const bytes = await client.body(limit, footprint)
  if (mayBeMissing && bytes.length === 0) return undefined
  if (!isJson) throw notJson()
  boundJson(bytes, RECORD_BOUNDS)
  const value = parsed(bytes, exact ? parseExactly : JSON.parse)
  accepted(schema, value)
  return value
}

function notJson(): GatewayError {
  const message = 'Send the body as application/json, with that "Content-Type" header.'
  return new GatewayError('unsupported_media_type', message)
}

function parsed(bytes: Uint8Array, parse: (text: string) => unknown): unknown {
  try {
    return parse(decoder.decode(bytes))
  } catch {
    throw new GatewayError('invalid_request', 'The request body is not valid JSON.', { code: 'invalid_json' })
  }
}
