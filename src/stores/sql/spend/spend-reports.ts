import { type RawBuilder, sql } from 'kysely'
import { isFilled } from '../backfill.ts'
import { batchOf, rowsOf } from '../query.ts'
import type { Reach } from '../records/reach.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { all, equal, type SpendFilters, withinReach } from './spend-filters.ts'
import { SPEND_DIMENSIONS, SPEND_SUMS, type SpendSum } from './spend-sums.ts'

const named = (table: keyof Schema, id: string, name: RawBuilder<unknown>) => ({
  name,
  joined: sql`LEFT JOIN ${sql.table(table)} ON ${sql.id(id)} = group_value`,
})

/** The groupings of reports: the column, and the table that has the names of its values. */
export const GROUPINGS = {
  hour: { column: 'bucket_of', names: undefined },
  day: { column: 'bucket_of', names: undefined },
  model: { column: 'model', names: undefined },
  provider: { column: 'provider', names: undefined },
  deployment: { column: 'deployment', names: undefined },
  user: { column: 'user_id', names: named('gateway_user', 'user_id', sql`coalesce(user_name, user_email)`) },
  team: { column: 'team_id', names: named('gateway_team', 'team_id', sql`team_name`) },
  organization: {
    column: 'organization_id',
    names: named('gateway_organization', 'organization_id', sql`organization_name`),
  },
  key: { column: 'key_id', names: named('gateway_key', 'key_id', sql`key_name`) },
  tag: { column: 'tag', names: undefined },
} as const
export type Grouping = keyof typeof GROUPINGS

/** Sums read from the database, whose int8 and numeric values are text. */
export type Sums = Readonly<Record<SpendSum, string | number>>
export interface GroupSums extends Sums {
  readonly group_value: string
  readonly group_name: string | null
}

export interface ReportRange {
  /** Inclusive; the beginning of an hour, in ISO 8601. */
  readonly from: string
  /** Exclusive; the beginning of an hour. */
  readonly to: string
}

/** Sums of the ledger, read from the rollups, so that their cost does not grow with the number of calls. */
export interface SpendReports {
  /** The sums of the range, and of the range of the same length before it. */
  totals(reach: Reach, range: ReportRange, filters: SpendFilters): Promise<{ current: Sums; previous: Sums }>
  /** The sums of each group: in order of time, or the most expensive first for other groupings. */
  grouped(
    reach: Reach,
    range: ReportRange,
    query: SpendFilters & { readonly by: Grouping; readonly offset: number; readonly limit: number },
  ): Promise<GroupSums[]>
}

const NAMES = Object.keys(SPEND_SUMS) as SpendSum[]
const TOTALS = sql.join(NAMES.map((name) => sql`coalesce(sum(${sql.id(name)}), 0) AS ${sql.id(name)}`))
const IN_TIME = sql`group_value`
const DEAREST_FIRST = sql`cost_nano DESC, calls DESC, group_value`
const DAY_MS = 86_400_000

export function spendReports(database: Sql): SpendReports {
  let filled = false
  /** Whether the table of totals is filled. Until then reports read the rollups, which are always complete. */
  async function hasTotals(): Promise<boolean> {
    filled ||= await isFilled(database, 'gateway_spend_total')
    return filled
  }

  return {
    async totals(reach, range, filters) {
      const { from, to } = range
      const short = await hasTotals()
      const length = Date.parse(to) - Date.parse(from)
      const before = { from: new Date(Date.parse(from) - length).toISOString(), to: from }
      const total = (within: ReportRange) =>
        sql<Sums>`SELECT ${TOTALS} FROM ${source(short, reach, within, filters, 'all')}`
      const [current, previous] = await batchOf(database, [total(range), total(before)])
      return { current: current[0] as Sums, previous: previous[0] as Sums }
    },

    async grouped(reach, range, { by, offset, limit, ...filters }) {
      const { column, names } = GROUPINGS[by]
      const order = column === 'bucket_of' ? IN_TIME : DEAREST_FIRST
      const short = await hasTotals()
      return rowsOf(
        database,
        sql<GroupSums>`
          WITH sums AS (
            SELECT ${sql.id(column)} AS group_value, ${TOTALS}
            FROM ${source(short, reach, range, filters, by)}
            GROUP BY ${sql.id(column)} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}
          )
          SELECT sums.*, ${names?.name ?? sql`NULL::text`} AS group_name
          FROM sums ${names?.joined ?? sql``} ORDER BY ${order}`,
      )
    },
  }
}

/** The smallest table of sums that covers the range exactly. `short`: whether the totals of one dimension may be
 *  used. */
function source(
  short: boolean,
  reach: Reach,
  { from, to }: ReportRange,
  filters: SpendFilters,
  by: Grouping | 'all',
): RawBuilder<unknown> {
  const wholeDays = by !== 'hour' && [from, to].every((time) => Date.parse(time) % DAY_MS === 0)
  // Days of a range that begins or ends within a day are summed from hours.
  const bucket = by === 'day' && !wholeDays ? sql`date_trunc('day', bucket, 'UTC')` : sql`bucket`
  const { columns, table, where } = (short && totalsSource(by, filters, reach)) || rollupSource(by, filters, reach)
  return sql`(
    SELECT *, ${columns}${bucket} AS bucket_of FROM ${sql.table(table)}
    WHERE grain = ${wholeDays ? 'day' : 'hour'} AND bucket >= ${from}::timestamptz AND bucket < ${to}::timestamptz
      AND ${where}
  ) AS counted`
}

interface Source {
  /** Columns before the others, each followed by a comma. */
  readonly columns: RawBuilder<unknown>
  readonly table: keyof Schema
  readonly where: RawBuilder<unknown>
}

/** The totals of one dimension, if the report involves only one. */
function totalsSource(by: Grouping | 'all', filters: SpendFilters, reach: Reach): Source | undefined {
  if (reach !== 'everything') return undefined
  const column = by === 'all' || GROUPINGS[by].column === 'bucket_of' ? undefined : GROUPINGS[by].column
  const [first, ...others] = Object.entries(filters).filter(([, value]) => value !== undefined)
  if (others.length > 0 || (first && column !== undefined)) return undefined
  const [dimension, value] = first ?? [column ?? 'all', undefined]
  return {
    columns: column === undefined ? sql`` : sql`value AS ${sql.id(column)}, `,
    table: 'gateway_spend_total',
    where: value === undefined ? sql`dimension = ${dimension}` : sql`dimension = ${dimension} AND value = ${value}`,
  }
}

function rollupSource(by: Grouping | 'all', filters: SpendFilters, reach: Reach): Source {
  return {
    columns: sql``,
    table: by === 'tag' || filters.tag !== undefined ? 'gateway_spend_tag_rollup' : 'gateway_spend_rollup',
    where: all([
      ...SPEND_DIMENSIONS.map((dimension) => equal(dimension, filters[dimension])),
      equal('tag', filters.tag),
      withinReach(reach),
    ]),
  }
}
