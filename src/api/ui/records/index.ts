import type { Route } from '../../route.ts'
import { keys } from './keys.ts'
import { organizations } from './organizations.ts'
import { routeGroups } from './route-groups.ts'
import { teams } from './teams.ts'
import { users } from './users.ts'

/** Every kind of record that the admin API serves, in the order of its documentation. */
export const records: readonly (readonly Route[])[] = [keys, teams, organizations, users, routeGroups]
