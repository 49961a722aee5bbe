import * as z from 'zod'
import { GatewayError } from '../../lib/errors.ts'
import { lazily } from '../../lib/lazily.ts'
import { json } from '../respond.ts'
import { defineRoute, type Route } from '../route.ts'
import { isStorable } from '../storable.ts'
import { accountSession } from './own-account.ts'

const listed = lazily(() =>
  z.object({
    session_id: z.string(),
    current: z.boolean().describe('Whether it is the session of this request.'),
    method: z.string(),
    mfa_verified: z.boolean(),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().describe('Accurate to five minutes.'),
    expires_at: z.iso.datetime(),
  }),
)

const list = defineRoute(
  {
    method: 'get',
    path: '/auth/sessions',
    summary: "One's own sessions, the last used first.",
    tag: 'Accounts',
    auth: 'session',
    responses: { 200: { description: 'The sessions.', schema: () => z.object({ data: z.array(listed()) }) } },
  },
  async (scope) => {
    const { sessionId, account } = accountSession(scope)
    const rows = await scope.services.records.sessions.list(account.accountId)
    return json({ data: rows.map((row) => ({ ...row, current: row.session_id === sessionId })) })
  },
)

const remove = defineRoute(
  {
    method: 'delete',
    path: '/auth/sessions/{session_id}',
    summary: "Ends one of one's own sessions, everywhere and at once.",
    tag: 'Accounts',
    auth: 'session',
    action: 'account.end_session',
    params: () => z.object({ session_id: z.string() }),
    responses: {
      200: {
        description: 'The session has ended.',
        schema: () => z.object({ session_id: z.string(), ended: z.literal(true) }),
      },
    },
  },
  async (scope) => {
    const { session_id } = scope.input.params
    const { accountId } = accountSession(scope).account
    scope.audits({ resource_id: accountId, metadata: { session_id } })
    if (isStorable(session_id) && (await scope.services.sessions.end(session_id, accountId)))
      return json({ session_id, ended: true })
    throw new GatewayError('not_found', 'There is no such session.', { param: 'session_id' })
  },
)

export const ownSessions: readonly Route[] = [list, remove]
