import { type RawBuilder, sql } from 'kysely'
import type { Reach } from '../records/reach.ts'
import { SPEND_DIMENSIONS, type SpendDimension } from './spend-sums.ts'

/** The dimensions and the tag that the calls of a report or list must have, and those that they must not have. */
export type SpendFilters = { readonly [Name in SpendDimension]?: string | undefined } & {
  readonly [Name in SpendDimension as `not_${Name}`]?: string | undefined
} & { readonly tag?: string | undefined }

/** The conditions of the dimensions. */
export const ofDimensions = (filters: SpendFilters): (RawBuilder<unknown> | undefined)[] =>
  SPEND_DIMENSIONS.flatMap((one) => [equal(one, filters[one]), unequal(one, filters[`not_${one}`])])

/** The conjunction of conditions; true if there are none. */
export function all(conditions: readonly (RawBuilder<unknown> | undefined)[]): RawBuilder<unknown> {
  const given = conditions.filter((condition) => condition !== undefined)
  return given.length === 0 ? sql`true` : sql.join(given, sql` AND `)
}

/** Compares a column. The second condition makes partial indexes usable, which leave out ''. */
export function equal(
  column: SpendDimension | 'tag' | 'batch_id' | 'prompt' | 'error_type',
  value: string | undefined,
): RawBuilder<unknown> | undefined {
  return value === undefined ? undefined : sql`${sql.id(column)} = ${value} AND ${sql.id(column)} <> ''`
}

/** The opposite, which includes calls without a value. No index serves it. */
export function unequal(
  column: SpendDimension | 'ending' | 'error_type',
  value: string | undefined,
): RawBuilder<unknown> | undefined {
  return value === undefined ? undefined : sql`${sql.id(column)} <> ${value}`
}

/** Calls of an organization or team of the reach, or of the owner. */
export function withinReach(reach: Reach): RawBuilder<unknown> | undefined {
  if (reach === 'everything') return undefined
  const { organizations, teams, own } = reach
  const owned = own === undefined ? sql`` : sql` OR user_id = ${own.userId}`
  return sql`(organization_id = ANY(${organizations}::text[]) OR team_id = ANY(${teams}::text[])${owned})`
}
