import { type RawBuilder, sql } from 'kysely'
import type { Reach } from '../records/reach.ts'
import type { Schema } from '../schema/schema.ts'
import { all, equal, ofDimensions, type SpendFilters, withinReach } from './spend-filters.ts'
import { SERVED_DIMENSIONS } from './spend-sums.ts'

/** The table that has the names of a grouping's values. */
interface Names {
  readonly table: keyof Schema
  readonly id: string
  /** The columns of the name: the first one that is there. */
  readonly columns: readonly string[]
}

const named = (table: Names['table'], id: string, ...columns: string[]): Names => ({ table, id, columns })

/** The groupings of reports: the column, and the table that has the names of its values. */
export const GROUPINGS = {
  hour: { column: 'bucket_of', names: undefined },
  day: { column: 'bucket_of', names: undefined },
  model: { column: 'model', names: undefined },
  provider: { column: 'provider', names: undefined },
  deployment: { column: 'deployment', names: undefined },
  user: { column: 'user_id', names: named('gateway_user', 'user_id', 'user_name', 'user_email') },
  team: { column: 'team_id', names: named('gateway_team', 'team_id', 'team_name') },
  organization: {
    column: 'organization_id',
    names: named('gateway_organization', 'organization_id', 'organization_name'),
  },
  key: { column: 'key_id', names: named('gateway_key', 'key_id', 'key_name') },
  tag: { column: 'tag', names: undefined },
} as const
export type Grouping = keyof typeof GROUPINGS

export const isTime = (by: Grouping) => GROUPINGS[by].column === 'bucket_of'

export interface ReportRange {
  /** Inclusive; the beginning of an hour, in ISO 8601. */
  readonly from: string
  /** Exclusive; the beginning of an hour. */
  readonly to: string
}

export const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** The name of a grouping's value, and the join that brings it, under an alias. */
export function nameOf(by: Grouping, value: RawBuilder<unknown>, alias: string) {
  const { names } = GROUPINGS[by] as { readonly names: Names | undefined }
  if (!names) return { name: sql`NULL::text`, joined: sql`` }
  const columns = names.columns.map((column) => sql.ref(`${alias}.${column}`))
  return {
    name: sql`coalesce(${sql.join(columns)})`,
    joined: sql`LEFT JOIN ${sql.table(names.table)} AS ${sql.id(alias)} ON ${sql.ref(`${alias}.${names.id}`)} = ${value}`,
  }
}

/** A part of a range that the sums of one grain cover exactly. */
interface Segment extends ReportRange {
  readonly grain: 'hour' | 'day'
}

/** Splits a range into the whole days in it, which are read as days, and the rest at its ends, which is read as
 *  hours. */
function segmentsOf({ from, to }: ReportRange, groupings: readonly Grouping[]): readonly Segment[] {
  const first = Math.ceil(Date.parse(from) / DAY_MS) * DAY_MS
  const last = Math.floor(Date.parse(to) / DAY_MS) * DAY_MS
  if (groupings.includes('hour') || first >= last) return [{ grain: 'hour', from, to }]
  const [begins, ends] = [new Date(first).toISOString(), new Date(last).toISOString()]
  return [
    { grain: 'day', from: begins, to: ends },
    ...(Date.parse(from) < first ? [{ grain: 'hour', from, to: begins } as const] : []),
    ...(last < Date.parse(to) ? [{ grain: 'hour', from: ends, to } as const] : []),
  ]
}

/** The groupings with so many values that no report reads all of them. */
const hasMany = (by: Grouping) => by === 'key' || by === 'user'

/** Whether the tables that are smaller than the rollups are filled. */
export interface Filled {
  readonly gateway_spend_total: boolean
  readonly gateway_spend_served: boolean
  readonly gateway_spend_key_day: boolean
}

/** The calls that a report is about, and the tables that it may read them from. */
export interface Subject {
  readonly filled: Filled
  readonly reach: Reach
  readonly range: ReportRange
  readonly filters: SpendFilters
}

/** Whether a report should find its values before it reads their sums: worth it only if that leaves few rows to read
 *  again. */
export function isRanked(subject: Subject, by: Grouping): boolean {
  return !isTime(by) && (hasMany(by) || totalsSource(subject, [by]) !== undefined)
}

/** Some values of a grouping. */
export interface Some {
  readonly by: Grouping
  readonly values: readonly string[]
}

/** The smallest table of sums that covers the range exactly; with `only`, narrowed to the calls of some values. */
export function sumsSource(subject: Subject, groupings: readonly Grouping[], only?: Some): RawBuilder<unknown> {
  const totals = totalsSource(subject, groupings)
  const { columns, table, where } = totals ?? servedSource(subject, groupings) ?? rollupSource(subject, groupings)
  const named = totals?.values ?? only?.values.length
  const ofValues = only && sql`${sql.id(totals ? 'value' : GROUPINGS[only.by].column)} = ANY(${only.values}::text[])`
  const segments = segmentsOf(subject.range, groupings).map((segment) => {
    const { grain } = segment
    const bucket = groupings.includes('day') && grain === 'hour' ? sql`date_trunc('day', bucket, 'UTC')` : sql`bucket`
    return sql`
      SELECT *, ${columns}${bucket} AS bucket_of FROM ${sql.table(table)}
      WHERE grain = ${sql.lit(grain)} AND ${inBuckets(segment, totals && named)} AND ${all([where, ofValues])}`
  })
  return sql`(${sql.join(segments, sql` UNION ALL `)}) AS counted`
}

/** Above this number of values, scanning the range costs less than looking up each row. */
const MOST_LOOKUPS = 50_000

/** The buckets of a segment. Named one by one, the rows of a few values are each looked up by the primary key of
 *  totals. */
function inBuckets({ grain, from, to }: Segment, values: number | undefined): RawBuilder<unknown> {
  const [begins, length] = [Date.parse(from), grain === 'day' ? DAY_MS : HOUR_MS]
  const count = Math.ceil((Date.parse(to) - begins) / length)
  if (values !== undefined && values * count <= MOST_LOOKUPS) {
    const buckets = Array.from({ length: count }, (_, index) => new Date(begins + index * length).toISOString())
    return sql`bucket = ANY(${buckets}::timestamptz[])`
  }
  return sql`bucket >= ${from}::timestamptz AND bucket < ${to}::timestamptz`
}

interface Source {
  /** Columns before the others, each followed by a comma. */
  readonly columns: RawBuilder<unknown>
  readonly table: keyof Schema
  readonly where: RawBuilder<unknown>
  /** How many values it is narrowed to. */
  readonly values?: number | undefined
}

/** The totals of one dimension, if the report involves only one. */
function totalsSource({ filled, reach, filters }: Subject, groupings: readonly Grouping[]): Source | undefined {
  if (!filled.gateway_spend_total || reach !== 'everything') return undefined
  const [column, second] = groupings.filter((by) => !isTime(by)).map((by) => GROUPINGS[by].column)
  const [first, ...others] = Object.entries(filters).filter(([, value]) => value !== undefined)
  if (second !== undefined || others.length > 0 || first?.[0].startsWith('not_')) return undefined
  // A report by what it is narrowed to has one group.
  if (first && column !== undefined && first[0] !== column) return undefined
  const [dimension, value] = first ?? [column ?? 'all', undefined]
  return {
    columns: column === undefined ? sql`` : sql`value AS ${sql.id(column)}, `,
    table: 'gateway_spend_total',
    where: value === undefined ? sql`dimension = ${dimension}` : sql`dimension = ${dimension} AND value = ${value}`,
    values: value === undefined ? undefined : 1,
  }
}

const SERVED: ReadonlySet<string> = new Set(SERVED_DIMENSIONS.flatMap((name) => [name, `not_${name}`]))

/** The sums by what served the calls, if the report involves nothing else. */
function servedSource({ filled, reach, filters }: Subject, groupings: readonly Grouping[]): Source | undefined {
  if (!filled.gateway_spend_served || reach !== 'everything') return undefined
  const given = Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const involved = [...groupings.filter((by) => !isTime(by)).map((by) => GROUPINGS[by].column), ...given]
  if (!involved.every((name) => SERVED.has(name))) return undefined
  return { columns: sql``, table: 'gateway_spend_served', where: all(ofDimensions(filters)) }
}

function rollupSource({ reach, filters }: Subject, groupings: readonly Grouping[]): Source {
  return {
    columns: sql``,
    table: groupings.includes('tag') || filters.tag !== undefined ? 'gateway_spend_tag_rollup' : 'gateway_spend_rollup',
    where: all([...ofDimensions(filters), equal('tag', filters.tag), withinReach(reach)]),
  }
}
