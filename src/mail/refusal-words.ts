import { GatewayError } from '../lib/errors.ts'
import { type Secret, secret } from '../lib/secret.ts'
import { withoutSecrets } from '../transport/without-secrets.ts'
import type { MailMessage } from './mail-sender.ts'

const LONGEST_WORDS = 300

/** What a way of sending said of a message that it refused, without the credentials that it was shown and without the
 *  message's own secret: some repeat what they were sent. */
export function refusalWords(
  said: string,
  { link }: Pick<MailMessage, 'link'>,
  credentials: Readonly<Record<string, string | Secret>>,
): string {
  const token = link?.slice(link.indexOf('#') + 1)
  const secrets = token ? { ...credentials, link: secret(token) } : credentials
  const { message } = withoutSecrets(new GatewayError('upstream_failed', said), secrets)
  const words = message.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  // As a database can hold it: JSON can write half a character.
  return (words.length <= LONGEST_WORDS ? words : `${words.slice(0, LONGEST_WORDS)}…`).toWellFormed()
}
