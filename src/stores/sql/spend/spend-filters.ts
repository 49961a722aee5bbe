import { type RawBuilder, sql } from 'kysely'
import type { Reach } from '../records/reach.ts'
import type { SpendDimension } from './spend-sums.ts'

/** What calls have to be of, to be in a report or a list. */
export type SpendFilters = { readonly [Name in SpendDimension]?: string | undefined } & {
  readonly tag?: string | undefined
}

/** All of them at once; true where there is none. The second half of each lets indexes serve that leave '' out. */
export function all(conditions: readonly (RawBuilder<unknown> | undefined)[]): RawBuilder<unknown> {
  const given = conditions.filter((condition) => condition !== undefined)
  return given.length === 0 ? sql`true` : sql.join(given, sql` AND `)
}

export function equal(column: SpendDimension | 'tag', value: string | undefined): RawBuilder<unknown> | undefined {
  return value === undefined ? undefined : sql`${sql.id(column)} = ${value} AND ${sql.id(column)} <> ''`
}

/** What belongs to an organization or a team of the reach, or was called by the owner. */
export function withinReach(reach: Reach): RawBuilder<unknown> | undefined {
  if (reach === 'everything') return undefined
  const { organizations, teams, own } = reach
  const owned = own === undefined ? sql`` : sql` OR user_id = ${own.userId}`
  return sql`(organization_id = ANY(${organizations}::text[]) OR team_id = ANY(${teams}::text[])${owned})`
}
