import { type Fragment, fragment, join, raw } from '../fragment.ts'
import type { Reach } from '../records/reach.ts'
import type { SpendDimension } from './spend-sums.ts'

/** What calls have to be of, to be in a report or a list. */
export type SpendFilters = { readonly [Name in SpendDimension]?: string | undefined } & {
  readonly tag?: string | undefined
}

/** All of them at once; true where there is none. The second half of each lets indexes serve that leave '' out. */
export function all(conditions: readonly (Fragment | undefined)[]): Fragment {
  const given = conditions.filter((condition) => condition !== undefined)
  return given.length === 0 ? raw('true') : join(given, ' AND ')
}

export function equal(column: string, value: string | undefined): Fragment | undefined {
  return value === undefined ? undefined : fragment`${raw(column)} = ${value} AND ${raw(column)} <> ''`
}

/** What belongs to an organization or a team of the reach. */
export function withinReach(reach: Reach): Fragment | undefined {
  if (reach === 'everything') return undefined
  const { organizations, teams } = reach
  return fragment`(organization_id = ANY(${organizations}::text[]) OR team_id = ANY(${teams}::text[]))`
}
