import type { Route } from '../route.ts'
import { auditEvents } from './audit-events.ts'
import { keys } from './keys.ts'
import { models } from './models.ts'
import { organizations } from './organizations.ts'
import { routeGroupPolicies } from './route-group-policies.ts'
import { routeGroups } from './route-groups.ts'
import { teams } from './teams.ts'
import { users } from './users.ts'

/** The API of the administration. */
export const ui: readonly Route[] = [
  ...keys,
  ...teams,
  ...organizations,
  ...users,
  ...models,
  ...routeGroups,
  ...routeGroupPolicies,
  ...auditEvents,
]
