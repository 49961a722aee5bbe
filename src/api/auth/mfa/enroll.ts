import * as z from 'zod'
import { otpauthUrl } from '../../../identity/second-factor/codes.ts'
import { lazily } from '../../../lib/lazily.ts'
import { setSessionCookie } from '../../middleware/session-cookie.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { accountSession } from '../own-account.ts'
import { alreadyEnabled, codeBody, sentCode, wrongCode } from './code.ts'
import { recoveryCodes } from './recovery-codes.ts'

const started = lazily(() =>
  z.object({
    secret: z.string().describe('In base32: 6 digits every 30 seconds, by SHA-1.'),
    otpauth_url: z.string().describe('The secret as an otpauth address, for a QR code.'),
  }),
)

const start = defineRoute(
  {
    method: 'post',
    path: '/auth/mfa/enroll/start',
    summary: 'Creates a secret for an authenticator, shown only here and active once a code of it is confirmed.',
    tag: 'Accounts',
    auth: 'session',
    standings: ['unenrolled'],
    action: 'account.mfa_enroll_start',
    responses: { 200: { description: 'The secret.', schema: started } },
  },
  async (scope) => {
    const { accountId, email } = accountSession(scope).account
    scope.audits({ resource_id: accountId })
    const secret = await scope.services.secondFactor.start(accountId)
    if (secret === undefined) throw alreadyEnabled()
    const otpauth_url = otpauthUrl(secret, { issuer: `Model gateway ${hostOf(scope)}`, account: email })
    return json({ secret, otpauth_url })
  },
)

const confirmed = lazily(() => z.object({ mfa_enabled: z.literal(true), ...recoveryCodes().shape }))

const confirm = defineRoute(
  {
    method: 'post',
    path: '/auth/mfa/enroll/confirm',
    summary:
      'Activates the second factor. This session is verified and gets a new cookie; other sessions have to verify.',
    tag: 'Accounts',
    auth: 'session',
    standings: ['unenrolled'],
    action: 'account.mfa_enable',
    json: codeBody,
    responses: { 200: { description: 'The second factor is active.', schema: confirmed } },
  },
  async (scope) => {
    const { session, code } = sentCode(scope)
    if (session.account.mfaEnabled) throw alreadyEnabled()
    const { secondFactor } = scope.services
    const done = await secondFactor.confirm(session, code, scope.sessionClient())
    if (!done) throw wrongCode()
    const cookie = setSessionCookie(scope.site(), done.opened)
    return json({ mfa_enabled: true, recovery_codes: done.recoveryCodes }, 200, cookie)
  },
)

export const enroll: readonly Route[] = [start, confirm]

/** The issuer that authenticator apps show. */
function hostOf(scope: Scope): string {
  const { email_base_url: own } = scope.services.config.general_settings
  return own === undefined ? scope.site().host : new URL(own).host
}
