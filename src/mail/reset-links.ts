import type { ResetLinks } from '../identity/passwords/password-resets.ts'
import type { Outbox } from './outbox.ts'
import { resetMail } from './templates.ts'

/** Links for new passwords, by e-mail. undefined: nothing is sent. */
export function resetLinks(outbox: Outbox, baseUrl: string | undefined): ResetLinks | undefined {
  if (!outbox.enabled || baseUrl === undefined) return undefined
  return {
    compose: (recipient, { token, expiresAt }) =>
      outbox.compose({
        kind: 'password_reset',
        recipient,
        message: resetMail({ link: resetLink(baseUrl, token), expiresAt }),
      }),
    send: outbox.wake,
  }
}

/** The page where a token becomes a password. The fragment is sent to no server: no log and no Referer has it. */
export function resetLink(baseUrl: string, token: string): string {
  return `${baseUrl.replace(/\/+$/, '')}/console/reset#${token}`
}
