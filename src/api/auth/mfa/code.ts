import * as z from 'zod'
import { accepted } from '../../../config/accepted.ts'
import { refusal } from '../../../identity/refusal.ts'
import { readCode } from '../../../identity/second-factor/codes.ts'
import type { AccountSession } from '../../../identity/session-caller.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Scope } from '../../scope.ts'
import { accountSession } from '../own-account.ts'

/** The body of routes that take a code. */
export const codeBody = lazily(() =>
  z.strictObject({
    code: z.string().min(1).max(64).describe('A code of the authenticator, or a recovery code.'),
  }),
)

/** The session and the code of a request. The audit gets the kind of the code, never the code. */
export function sentCode(scope: Scope<{ readonly json: unknown }>): {
  readonly session: AccountSession
  readonly code: string
} {
  const session = accountSession(scope)
  const { code } = accepted(codeBody(), scope.input.json)
  scope.audits({ resource_id: session.account.accountId, metadata: { code: readCode(code)?.kind ?? 'unreadable' } })
  return { session, code }
}

/** The same, for an account that must have a second factor. */
export function sentProof(scope: Scope<{ readonly json: unknown }>): ReturnType<typeof sentCode> {
  const sent = sentCode(scope)
  if (sent.session.account.mfaEnabled) return sent
  throw new GatewayError('conflict', 'The account has no second factor.', { code: 'mfa_not_enabled' })
}

/** The same refusal for every wrong code: it must not reveal which codes exist. */
export function wrongCode(): GatewayError {
  return refusal('invalid_mfa_code', 'The code is wrong, or was used before.')
}

export function alreadyEnabled(): GatewayError {
  return new GatewayError('conflict', 'The account has a second factor. Disable it first: POST /auth/mfa/disable.', {
    code: 'mfa_enabled',
  })
}
