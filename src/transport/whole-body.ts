import { joinBytes } from '../lib/bytes/bytes.ts'
import type { RequestBody } from './transport.ts'

/** A request's body as one piece. */
export function wholeBody(body: RequestBody | undefined): Uint8Array | string {
  if (body === undefined) return ''
  return typeof body === 'string' || body instanceof Uint8Array ? body : joinBytes(body)
}
