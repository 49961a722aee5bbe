import { setSessionCookie } from '../../middleware/session-cookie.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { answerOf, sessionAnswer } from '../session-answer.ts'
import { codeBody, sentProof, wrongCode } from './code.ts'

export const verify = defineRoute(
  {
    method: 'post',
    path: '/auth/mfa/verify',
    summary: 'Proves the second factor in this session, which gets a new cookie.',
    tag: 'Accounts',
    auth: 'session',
    standings: ['unverified'],
    action: 'account.mfa_verify',
    json: codeBody,
    responses: { 200: { description: 'The session.', schema: sessionAnswer } },
  },
  async (scope) => {
    const { session, code } = sentProof(scope)
    const opened = await scope.services.secondFactor.verify(session, code, scope.sessionClient())
    if (!opened) throw wrongCode()
    return json(answerOf(opened.caller.session), 200, setSessionCookie(scope.site(), opened))
  },
)
