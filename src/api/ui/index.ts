import type { Route } from '../route.ts'
import { callableTargetBindings } from './access/callable-target-bindings.ts'
import { callableTargetPolicies } from './access/callable-target-policies.ts'
import { callableTargetList } from './access/callable-targets.ts'
import { modelAccess } from './access/model-access.ts'
import { auditEvents } from './audit/audit-events.ts'
import { keys } from './records/keys.ts'
import { organizations } from './records/organizations.ts'
import { teams } from './records/teams.ts'
import { users } from './records/users.ts'
import { models } from './routing/models.ts'
import { routeGroupPolicies } from './routing/route-group-policies.ts'
import { simulateRouteGroup } from './routing/route-group-simulation.ts'
import { routeGroups } from './routing/route-groups.ts'
import { logs } from './spend/logs.ts'
import { spend } from './spend/spend.ts'

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
