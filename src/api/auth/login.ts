import * as z from 'zod'
import { accepted } from '../../config/accepted.ts'
import { refusal } from '../../identity/refusal.ts'
import { lazily } from '../../lib/lazily.ts'
import { setSessionCookie } from '../middleware/session-cookie.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'
import { answerOf, sessionAnswer } from './session-answer.ts'

const credentials = lazily(() => z.strictObject({ master_key: z.string().min(1).max(4096) }))

export const login = defineRoute(
  {
    method: 'post',
    path: '/auth/internal/login',
    summary: 'Opens a session: its cookie comes with the answer.',
    tag: 'Accounts',
    auth: 'public',
    action: 'account.login',
    json: credentials,
    responses: { 200: { description: 'The session.', schema: sessionAnswer } },
  },
  async (scope) => {
    const { services } = scope
    const { master_key: key } = accepted(credentials(), scope.input.json)
    scope.audits({ actor_type: 'anonymous', metadata: { method: 'master_key' } })
    const { kind } = await services.identify(key, scope.address)
    if (kind !== 'master_key') throw refusal('invalid_api_key', 'This is not the master key.')
    const opened = await services.sessions.open(
      { accountId: undefined, method: 'master_key', mfaVerified: false },
      scope.sessionClient(),
    )
    if (!opened) throw new TypeError('a session of the master key has no account that could be inactive')
    scope.audits({ actor_type: 'master_key' })
    return json(answerOf(opened.caller.session), 200, setSessionCookie(scope.site(), opened))
  },
)
