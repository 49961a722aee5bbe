import type { Route } from '../route.ts'
import { models } from './models.ts'
import { routeGroupPolicies } from './route-group-policies.ts'
import { routeGroups } from './route-groups.ts'

/** The API of the administration. */
export const ui: readonly Route[] = [...models, ...routeGroups, ...routeGroupPolicies]
