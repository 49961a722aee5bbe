import * as z from 'zod'
import { RECOVERY_CODES } from '../../../identity/second-factor/codes.ts'
import { lazily } from '../../../lib/lazily.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { codeBody, sentProof, wrongCode } from './code.ts'

export const recoveryCodes = lazily(() =>
  z.object({
    recovery_codes: z
      .array(z.string())
      .length(RECOVERY_CODES)
      .describe('Each replaces one code of the authenticator, once. They are shown only here.'),
  }),
)

export const renewRecoveryCodes = defineRoute(
  {
    method: 'post',
    path: '/auth/mfa/recovery-codes',
    summary: 'Replaces the recovery codes.',
    tag: 'Accounts',
    auth: 'session',
    action: 'account.recovery_codes',
    json: codeBody,
    responses: { 200: { description: 'The codes.', schema: recoveryCodes } },
  },
  async (scope) => {
    const { session, code } = sentProof(scope)
    const codes = await scope.services.secondFactor.renewRecoveryCodes(session.account.accountId, code)
    if (!codes) throw wrongCode()
    return json({ recovery_codes: codes })
  },
)
