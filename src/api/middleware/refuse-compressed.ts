import { GatewayError } from '../../lib/errors.ts'

/** Encodings that change bytes. Some clients send `identity` or `utf-8`, which do not. */
const COMPRESSED = /\b(gzip|deflate|br|compress|zstd)\b/i

/** Throws for a compressed body: it could be of any size once decompressed. */
export function refuseCompressed(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || !COMPRESSED.test(contentEncoding)) return
  const message = 'Send the body as it is, without compressing it: no "Content-Encoding" is taken here.'
  throw new GatewayError('unsupported_media_type', message)
}
