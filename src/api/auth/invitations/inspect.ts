import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

const place = () => z.object({ id: z.string(), name: z.string().nullable() }).nullable()

const answer = lazily(() =>
  z.object({
    valid: z.boolean().describe('false, and all other fields empty: the token is wrong, used, cancelled or expired.'),
    email: z.string().nullable(),
    organization: place(),
    team: place(),
    role: z.string().nullable().describe('The role in the team, else in the organization.'),
    organization_role: z.string().nullable(),
    team_role: z.string().nullable(),
    password_required: z.boolean().describe('Whether the acceptance needs a password for a new account.'),
    expires_at: z.iso.datetime().nullable(),
  }),
)

const NONE = {
  valid: false,
  email: null,
  organization: null,
  team: null,
  role: null,
  organization_role: null,
  team_role: null,
  password_required: false,
  expires_at: null,
}

export const inspectInvitation = defineRoute(
  {
    method: 'get',
    path: '/auth/invitations/{token}',
    summary: 'The content of an invitation, by its token.',
    tag: 'Accounts',
    auth: 'public',
    params: () => z.object({ token: z.string() }),
    responses: { 200: { description: 'The invitation, or that there is none.', schema: answer } },
  },
  async ({ services, address, input: { params } }) => {
    const open = await services.invitations.inspect(params.token, address)
    if (!open) return json(NONE)
    const { email, organization_role, team_role, password_required, expires_at } = open
    const body = {
      valid: true,
      email,
      organization: open.organization_id === null ? null : { id: open.organization_id, name: open.organization_name },
      team: open.team_id === null ? null : { id: open.team_id, name: open.team_name },
      role: team_role ?? organization_role,
      organization_role,
      team_role,
      password_required,
      expires_at,
    }
    return json(body)
  },
)
