import type { Route } from '../route.ts'
import { auditEvents } from './audit-events.ts'
import { callableTargetBindings } from './callable-target-bindings.ts'
import { callableTargetPolicies } from './callable-target-policies.ts'
import { callableTargetList } from './callable-targets.ts'
import { keys } from './keys.ts'
import { logs } from './logs.ts'
import { modelAccess } from './model-access.ts'
import { models } from './models.ts'
import { organizations } from './organizations.ts'
import { routeGroupPolicies } from './route-group-policies.ts'
import { simulateRouteGroup } from './route-group-simulation.ts'
import { routeGroups } from './route-groups.ts'
import { spend } from './spend.ts'
import { teams } from './teams.ts'
import { users } from './users.ts'

/** The API of the administration. */
export const ui: readonly Route[] = [
  ...keys,
  ...teams,
  ...organizations,
  ...users,
  ...modelAccess,
  ...callableTargetBindings,
  ...callableTargetPolicies,
  ...callableTargetList,
  ...models,
  ...routeGroups,
  ...routeGroupPolicies,
  simulateRouteGroup,
  ...auditEvents,
  ...spend,
  ...logs,
]
