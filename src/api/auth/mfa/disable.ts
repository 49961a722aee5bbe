import * as z from 'zod'
import { isRequired } from '../../../identity/sessions/session-of.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { codeBody, sentProof, wrongCode } from './code.ts'

const answer = lazily(() => z.object({ mfa_enabled: z.literal(false) }))

export const disable = defineRoute(
  {
    method: 'post',
    path: '/auth/mfa/disable',
    summary: 'Removes the second factor and its recovery codes.',
    tag: 'Accounts',
    auth: 'session',
    action: 'account.mfa_disable',
    json: codeBody,
    responses: { 200: { description: 'The account has no second factor.', schema: answer } },
  },
  async (scope) => {
    const { services } = scope
    const { session, code } = sentProof(scope)
    if (isRequired(services.config.general_settings.require_mfa, session.grants)) {
      throw new GatewayError('permission', 'This account must keep a second factor.', { code: 'mfa_mandatory' })
    }
    if (!(await services.secondFactor.disable(session.account.accountId, code))) throw wrongCode()
    return json({ mfa_enabled: false })
  },
)
