import * as z from 'zod'
import { PERMISSIONS } from '../../../identity/permissions.ts'
import { permissionsOf, ROLES } from '../../../identity/roles.ts'
import { lazily } from '../../../lib/lazily.ts'
import { pagesOf } from '../../auth/pages.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

const answer = lazily(() =>
  z.object({
    data: z.array(
      z.object({
        role: z.enum([...ROLES.organization, ...ROLES.team]),
        scope: z.enum(['organization', 'team']),
        permissions: z.array(z.enum(PERMISSIONS)).describe('What the role grants in its organization or team.'),
        pages: z.array(z.string()).describe('The pages of the console that a person with this role alone may open.'),
      }),
    ),
  }),
)

export const roleList = defineRoute(
  {
    method: 'get',
    path: '/ui/api/roles',
    summary: 'The roles in organizations and in teams: what each grants, and the pages of the console that it shows.',
    tag: 'Accounts',
    auth: 'admin',
    permission: 'platform.admin',
    responses: { 200: { description: 'All roles, those in organizations first.', schema: answer } },
  },
  () => {
    const data = (['organization', 'team'] as const).flatMap((scope) =>
      ROLES[scope].map((role) => {
        const permissions = permissionsOf(role)
        return { role, scope, permissions: [...permissions], pages: pagesOf([{ permissions }]) }
      }),
    )
    return json({ data })
  },
)
