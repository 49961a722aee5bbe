import type * as z from 'zod'
import { mistakesOf } from '../../config/load.ts'
import { sentence } from '../../config/sentences.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Client } from '../../pipeline/client.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The JSON body of a request, as it was sent, once its schema has taken it. Counted while it arrives. */
export async function readJson(
  client: Client,
  contentType: string | undefined,
  schema: z.ZodType,
  limitBytes: number,
): Promise<unknown> {
  if (!/^application\/json\b/i.test(contentType ?? '')) {
    const message = 'Send the body as application/json, with that "Content-Type" header.'
    throw new GatewayError('unsupported_media_type', message)
  }
  const value = parsed(await client.body(limitBytes))
  const result = schema.safeParse(value, { error: sentence })
  if (result.success) return value
  const [first] = result.error.issues.flatMap(mistakesOf)
  const path = first?.path ?? 'top level'
  throw new GatewayError('invalid_request', `${path}: ${first?.message}`, { param: path })
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    throw new GatewayError('invalid_request', 'The request body is not valid JSON.', { code: 'invalid_json' })
  }
}
