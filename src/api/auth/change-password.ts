import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { setSessionCookie } from '../middleware/session-cookie.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'
import { givenPassword } from './fields.ts'
import { accountSession } from './own-account.ts'
import { answerOf, sessionAnswer } from './session-answer.ts'

const given = lazily(() =>
  z.strictObject({
    current_password: givenPassword(),
    new_password: givenPassword().describe('12 to 1,024 characters, and none that many people use.'),
  }),
)

export const changePassword = defineRoute(
  {
    method: 'post',
    path: '/auth/internal/change-password',
    summary: "Changes one's password. All other sessions end; this one goes on, under the cookie of the answer.",
    tag: 'Accounts',
    auth: 'session',
    standings: ['password_expired'],
    action: 'account.change_password',
    json: given,
    responses: { 200: { description: 'The session.', schema: sessionAnswer } },
  },
  async (scope) => {
    const { current_password: current, new_password: next } = scope.input.json
    const session = accountSession(scope)
    scope.audits({ resource_id: session.account.accountId })
    const opened = await scope.services.changePassword(session, { current, next }, scope.sessionClient())
    scope.audits({ changes: { password: { old: '…', new: '…' } } })
    const headers = setSessionCookie(scope.site(), opened)
    return json(answerOf(opened.caller.session), 200, headers)
  },
)
