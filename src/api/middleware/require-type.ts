import { GatewayError } from '../../lib/errors.ts'

export const MEDIA_TYPES = { json: 'application/json', multipart: 'multipart/form-data' } as const

const ACCEPTED = { json: /^application\/([\w.+-]+\+)?json\b/i, multipart: /^multipart\/form-data\b/i } as const

/** The media type of a body, which must be of this kind. */
export function requireType(contentType: string | undefined, body: keyof typeof MEDIA_TYPES): string {
  if (contentType !== undefined && ACCEPTED[body].test(contentType)) return contentType
  const expected = MEDIA_TYPES[body]
  throw new GatewayError('unsupported_media_type', `Send the body as ${expected}, with that "Content-Type" header.`)
}
