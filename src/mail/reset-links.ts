import type { ResetLinks } from '../identity/passwords/password-resets.ts'
import type { Outbox } from './outbox.ts'
import { resetMail } from './templates.ts'

/** Links for new passwords, by e-mail. undefined: nothing is sent. */
export function resetLinks(outbox: Outbox, baseUrl: string | undefined): ResetLinks | undefined {
  if (!outbox.enabled || baseUrl === undefined) return undefined
  // The fragment is sent to no server: no log and no Referer has it.
  const page = `${baseUrl.replace(/\/+$/, '')}/console/reset#`
  return {
    compose: (recipient, { token, expiresAt }) =>
      outbox.compose({ kind: 'password_reset', recipient, message: resetMail({ link: page + token, expiresAt }) }),
    send: outbox.wake,
  }
}
