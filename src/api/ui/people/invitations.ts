import * as z from 'zod'
import { accepted } from '../../../config/accepted.ts'
import { mailbox } from '../../../config/fields.ts'
import { missingPermission, reachOf } from '../../../identity/grants.ts'
import { type InvitedPlaces, requireMayInvite } from '../../../identity/invitations/invited-access.ts'
import { ORGANIZATION_ROLES, TEAM_ROLES } from '../../../identity/roles.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { newTimedId } from '../../../lib/ids.ts'
import { lazily } from '../../../lib/lazily.ts'
import { INVITATION_STATES, type InvitationRecord } from '../../../stores/sql/people/invitation-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { isStorable, storable } from '../../storable.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { fieldsOf } from '../records/record-answer.ts'
import { referring } from '../records/record-kind.ts'
import { carriedLink } from './invitation-mail.ts'

const PATH = '/ui/api/invitations'

const time = () => z.iso.datetime()
const answer = lazily(() =>
  z.object({
    invitation_id: z.string(),
    email: z.string(),
    organization_id: z.string().nullable(),
    organization_name: z.string().nullable(),
    organization_role: z.string().nullable(),
    team_id: z.string().nullable(),
    team_name: z.string().nullable(),
    team_organization_id: z.string().nullable().describe('The organization that the team is in.'),
    team_role: z.string().nullable(),
    state: z.enum(INVITATION_STATES),
    invited_by: z.string().nullable().describe('The account; null: the master key.'),
    invited_by_email: z.string().nullable(),
    accepted_by: z.string().nullable(),
    accepted_at: time().nullable(),
    expires_at: time(),
    created_at: time(),
    updated_at: time(),
    mail: z
      .object({
        state: z.enum(['queued', 'sent', 'failed']),
        attempts: z.int(),
        last_error: z.string().nullable(),
        sent_at: time().nullable(),
      })
      .nullable()
      .describe('The state of the last e-mail with the link.'),
  }),
)

/** With the link, where no e-mail carries it. */
const linked = lazily(() =>
  answer().extend({
    invitation_url: z
      .string()
      .optional()
      .describe('The link to pass on to the person, shown only here; null if it is sent by e-mail.'),
  }),
)

const body = lazily(() =>
  z.strictObject({
    email: mailbox(),
    organization_id: storable().min(1).max(1024).optional(),
    organization_role: z.enum(ORGANIZATION_ROLES).optional().describe('Default: org_member.'),
    team_id: storable().min(1).max(1024).optional(),
    team_role: z.enum(TEAM_ROLES).optional().describe('Default: team_developer.'),
  }),
)

const create = defineRoute(
  {
    method: 'post',
    path: PATH,
    summary: 'Invites a person by e-mail: to an organization, a team, both, or the gateway alone.',
    tag: 'Accounts',
    auth: 'admin',
    permission: 'user.update',
    scoped: true,
    json: body,
    responses: { 201: { description: 'The invitation.', schema: linked } },
  },
  async (scope) => {
    const { records, outbox } = scope.services
    const { email, organization_id = null, team_id = null, ...roles } = accepted(body(), scope.input.json)
    requirePlace('organization', organization_id, roles.organization_role)
    requirePlace('team', team_id, roles.team_role)
    const access = {
      organization_id,
      organization_role: organization_id === null ? null : (roles.organization_role ?? 'org_member'),
      team_id,
      team_role: team_id === null ? null : (roles.team_role ?? 'team_developer'),
    }
    const places = await requireMayInvite(records, scope.caller(), access)
    const carried = await carriedLink(scope, email, places)
    const invitation = await referring(
      records.invitations.create(
        {
          invitation_id: newTimedId('invitation'),
          email,
          ...access,
          invited_by: scope.session()?.account?.accountId ?? null,
          ...carried.link,
        },
        carried.email,
      ),
    )
    outbox.wake(scope.client.defer)
    auditInvitation(scope, invitation, places.organizationId)
    return json({ ...shown(invitation), ...carried.shown }, 201)
  },
)

const list = defineRoute(
  {
    method: 'get',
    path: PATH,
    summary: 'Invitations, the newest first.',
    tag: 'Accounts',
    auth: 'admin',
    permission: 'user.read',
    scoped: true,
    query: () =>
      z.object({
        search: storable().max(256).default('').describe('Part of the address.'),
        state: z.enum(INVITATION_STATES).optional(),
        organization_id: storable().max(1024).optional().describe('Of the invitation, or of its team.'),
        team_id: storable().max(1024).optional(),
        ...paging(),
      }),
    responses: { 200: pageAnswer(answer) },
  },
  async (scope) => {
    const { limit, ...query } = scope.input.query
    const reach = reachOf(scope.caller(), 'user.read')
    const rows = await scope.services.records.invitations.page({ ...query, reach, limit: limit + 1 })
    const { data, next_cursor } = pageOf(rows, limit, ({ invitation_id }) => invitation_id)
    return json({ data: data.map(shown), next_cursor })
  },
)

const one = {
  method: 'post',
  tag: 'Accounts',
  auth: 'admin',
  permission: 'user.update',
  scoped: true,
  params: () => z.object({ invitation_id: z.string() }),
} as const

const resend = defineRoute(
  {
    ...one,
    path: `${PATH}/{invitation_id}/resend`,
    action: 'invitation.resend',
    summary: 'Sends a new link, valid for another 72 hours. The former link ends.',
    responses: { 200: { description: 'The invitation.', schema: linked } },
  },
  async (scope) => {
    const { records, outbox } = scope.services
    const { before, places } = await present(scope)
    const carried = await carriedLink(scope, before.email, places)
    const invitation = await records.invitations.renew(
      before.invitation_id,
      { invited_by: scope.session()?.account?.accountId ?? null, ...carried.link },
      carried.email,
    )
    if (!invitation) throw notPending()
    outbox.wake(scope.client.defer)
    auditInvitation(scope, invitation, places.organizationId)
    return json({ ...shown(invitation), ...carried.shown })
  },
)

const cancel = defineRoute(
  {
    ...one,
    path: `${PATH}/{invitation_id}/cancel`,
    action: 'invitation.cancel',
    summary: 'Cancels an invitation that is not accepted yet.',
    responses: { 200: { description: 'The invitation.', schema: answer } },
  },
  async (scope) => {
    const { records } = scope.services
    const { before, places } = await present(scope)
    const invitation = await records.invitations.cancel(before.invitation_id)
    if (!invitation) throw notPending()
    auditInvitation(scope, invitation, places.organizationId)
    return json(shown(invitation))
  },
)

export const invitations: readonly Route[] = [create, list, resend, cancel]

/** The invitation of the path. Throws unless the caller could have created it. */
async function present(
  scope: Scope<{
    readonly params: { readonly invitation_id: string }
    readonly query: unknown
    readonly json: unknown
  }>,
): Promise<{ readonly before: InvitationRecord; readonly places: InvitedPlaces }> {
  const { invitation_id: id } = scope.input.params
  const { records } = scope.services
  const caller = scope.caller()
  const before = isStorable(id) && (await records.invitations.find(id, reachOf(caller, 'user.read')))
  if (!before) throw new GatewayError('not_found', 'There is no such invitation.', { param: 'invitation_id' })
  try {
    return { before, places: await requireMayInvite(records, caller, before) }
  } catch (error) {
    // It also grants access to a place that the caller may not see.
    throw error instanceof GatewayError && error.failure === 'invalid_request'
      ? missingPermission('user.update')
      : error
  }
}

function requirePlace(scope: 'organization' | 'team', id: string | null, role: string | undefined): void {
  if (id !== null || role === undefined) return
  const message = `${scope}_id: is required beside ${scope}_role`
  throw new GatewayError('invalid_request', message, { param: `${scope}_id` })
}

const shown = (invitation: InvitationRecord) => fieldsOf(answer(), invitation)

function auditInvitation(scope: Scope, invitation: InvitationRecord, organizationId: string | null): void {
  const { email, organization_role, team_id, team_role, expires_at } = invitation
  scope.audits({
    resource_id: invitation.invitation_id,
    organization_id: organizationId,
    metadata: {
      email,
      invited_organization_id: invitation.organization_id,
      organization_role,
      team_id,
      team_role,
      expires_at,
    },
  })
}

function notPending(): GatewayError {
  return new GatewayError('conflict', 'This invitation was accepted or cancelled already.', {
    param: 'invitation_id',
    code: 'invitation_not_pending',
  })
}
