import type * as z from 'zod'
import { accepted } from '../../config/accepted.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Footprint } from '../../lib/footprints.ts'
import { boundJson, RECORD_BOUNDS } from '../../lib/json/json-bounds.ts'
import type { Client } from '../../pipeline/client.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The JSON body of a request, checked by its schema and passed on unchanged. Its memory is counted while it arrives.
 *  An empty body is undefined where the schema accepts that. */
export async function readJson(
  { client, footprint }: { readonly client: Client; readonly footprint: Footprint },
  contentType: string | undefined,
  schema: z.ZodType,
  limitBytes: number,
): Promise<unknown> {
  const isJson = /^application\/json\b/i.test(contentType ?? '')
  const mayBeMissing = schema.safeParse(undefined).success
  if (!isJson && !mayBeMissing) throw notJson()
  const bytes = await client.body(limitBytes, footprint)
  if (mayBeMissing && bytes.length === 0) return undefined
  if (!isJson) throw notJson()
  boundJson(bytes, RECORD_BOUNDS)
  const value = parsed(bytes)
  accepted(schema, value)
  return value
}

function notJson(): GatewayError {
  const message = 'Send the body as application/json, with that "Content-Type" header.'
  return new GatewayError('unsupported_media_type', message)
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    throw new GatewayError('invalid_request', 'The request body is not valid JSON.', { code: 'invalid_json' })
  }
}
