import { GatewayError } from '../../lib/errors.ts'

/** What some clients write there beside it, `identity` or `utf-8`, changes no byte. */
const COMPRESSED = /\b(gzip|deflate|br|compress|zstd)\b/i

/** Throws where a body comes compressed: unpacked, it could be of any size, and packed, nobody can read it. */
export function refuseCompressed(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || !COMPRESSED.test(contentEncoding)) return
  const message = 'Send the body as it is, without compressing it: no "Content-Encoding" is taken here.'
  throw new GatewayError('unsupported_media_type', message)
}
