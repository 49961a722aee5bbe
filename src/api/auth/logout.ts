import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { setSessionCookie } from '../middleware/session-cookie.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'

const answer = lazily(() => z.object({ authenticated: z.literal(false) }))

export const logout = defineRoute(
  {
    method: 'post',
    path: '/auth/internal/logout',
    summary: 'Ends the session at once. Does nothing without a session.',
    tag: 'Accounts',
    auth: 'public',
    takesSession: true,
    action: 'account.logout',
    responses: { 200: { description: 'The session has ended.', schema: answer } },
  },
  async (scope) => {
    const session = scope.session()
    if (session) {
      await scope.services.sessions.end(session.sessionId)
      scope.audits({ resource_id: session.account?.accountId ?? null })
    }
    return json({ authenticated: false }, 200, setSessionCookie(scope.site()))
  },
)
