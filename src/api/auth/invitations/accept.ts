import * as z from 'zod'
import { accepted } from '../../../config/accepted.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { AcceptedInvitation } from '../../../stores/sql/people/invitation-acceptance.ts'
import { setSessionCookie } from '../../middleware/session-cookie.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { browserSession } from '../browser-session.ts'
import { givenPassword } from '../fields.ts'

const body = lazily(() =>
  z.strictObject({
    token: z.string().min(1).max(1024),
    password: givenPassword().optional().describe('For a new account; an existing one keeps its role.'),
  }),
)

const answer = lazily(() =>
  z.object({
    accepted: z.literal(true),
    session_established: z.boolean().describe('The browser is signed in.'),
    next_step: z.enum(['console', 'login']),
  }),
)

export const acceptInvitation = defineRoute(
  {
    method: 'post',
    path: '/auth/invitations/accept',
    summary: 'Accepts an invitation: creates the account if there is none, and grants the access.',
    tag: 'Accounts',
    auth: 'public',
    takesSession: true,
    action: 'account.invitation_accept',
    json: body,
    responses: { 200: { description: 'The invitation is accepted.', schema: answer } },
  },
  async (scope) => {
    const { token, password } = accepted(body(), scope.input.json)
    scope.audits({ actor_type: 'anonymous', actor_id: null, resource_id: null })
    const { invitation, isProved } = await scope.services.invitations.accept(token, password, scope.address)
    auditAcceptance(scope, invitation)
    if (scope.session()?.account?.accountId === invitation.account_id) return answered(true)
    const opening = { accountId: invitation.account_id, method: 'invitation', mfaVerified: false } as const
    const session = isProved ? await browserSession(scope, opening) : undefined
    return answered(session !== undefined, session && setSessionCookie(scope.site(), session))
  },
)

function answered(isSignedIn: boolean, headers = {}) {
  const body = { accepted: true, session_established: isSignedIn, next_step: isSignedIn ? 'console' : 'login' }
  return json(body, 200, headers)
}

function auditAcceptance(scope: Scope, invitation: AcceptedInvitation): void {
  const { account_id, invitation_id, organization_id, organization_role, team_id, team_role } = invitation
  scope.audits({
    actor_type: 'account',
    actor_id: account_id,
    resource_id: account_id,
    organization_id: organization_id ?? invitation.team_organization_id,
    metadata: {
      invitation_id,
      invited_organization_id: organization_id,
      organization_role,
      team_id,
      team_role,
      granted: invitation.granted,
      new_account: invitation.is_new,
      password_set: invitation.password_set,
    },
  })
}
