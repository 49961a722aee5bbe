import { GatewayError } from '../lib/errors.ts'
import { reveal, type Secret } from '../lib/secret.ts'

/** Shorter ones are words that anybody might say. */
const SHORTEST_SECRET = 8

/** A failure in words that hold no credential of the request which it answers: providers repeat what they were sent, and
 *  what they say goes to clients and logs. */
export function withoutSecrets(
  failure: GatewayError,
  headers: Readonly<Record<string, string | Secret>>,
): GatewayError {
  const { message, details } = failure
  const texts = [message, details.param ?? '', details.code ?? '']
  const clean = Object.values(headers).reduce<string[]>((said, value) => {
    if (typeof value === 'string') return said
    const credential = reveal(value).replace(/^\w+ +/, '')
    return credential.length < SHORTEST_SECRET ? said : said.map((text) => text.replaceAll(credential, '[secret]'))
  }, texts)
  if (clean.every((text, at) => text === texts[at])) return failure
  const [words = '', param, code] = clean
  return new GatewayError(failure.failure, words, {
    ...details,
    ...(param ? { param } : {}),
    ...(code ? { code } : {}),
    cause: failure.cause,
  })
}
