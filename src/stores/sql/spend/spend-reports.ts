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

/** By what calls can be summed up: the column, and where the names of its values stand. */
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

/** Sums as they are read: int8 and numeric are text. */
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

/** Sums of the ledger. They are read from the rollups, so that their cost does not grow with the number of calls. */
export interface SpendReports {
  /** Everything in the range, and in the range of the same length before it. */
  totals(reach: Reach, range: ReportRange, filters: SpendFilters): Promise<{ current: Sums; previous: Sums }>
  /** By time in its order, by anything else the dearest first. */
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
  /** Until the totals have everything, reports are made of the sums that always had. */
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

/** The fewest sums that hold the range exactly. `short`: whether the sums of one dimension do. */
function source(
  short: boolean,
  reach: Reach,
  { from, to }: ReportRange,
  filters: SpendFilters,
  by: Grouping | 'all',
): RawBuilder<unknown> {
  const wholeDays = by !== 'hour' && [from, to].every((time) => Date.parse(time) % DAY_MS === 0)
  // A day that is asked for by its hours.
  const bucket = by === 'day' && !wholeDays ? sql`date_trunc('day', bucket, 'UTC')` : sql`bucket`
  const { columns, table, wanted } = (short && alone(by, filters, reach)) || together(by, filters, reach)
  return sql`(
    SELECT *, ${columns}${bucket} AS bucket_of FROM ${sql.table(table)}
    WHERE grain = ${wholeDays ? 'day' : 'hour'} AND bucket >= ${from}::timestamptz AND bucket < ${to}::timestamptz
      AND ${wanted}
  ) AS counted`
}

interface Source {
  /** What stands before the others, each with its comma. */
  readonly columns: RawBuilder<unknown>
  readonly table: keyof Schema
  readonly wanted: RawBuilder<unknown>
}

/** The sums of one dimension, where only one is asked about. */
function alone(by: Grouping | 'all', filters: SpendFilters, reach: Reach): Source | undefined {
  if (reach !== 'everything') return undefined
  const column = by === 'all' || GROUPINGS[by].column === 'bucket_of' ? undefined : GROUPINGS[by].column
  const [first, ...others] = Object.entries(filters).filter(([, value]) => value !== undefined)
  if (others.length > 0 || (first && column !== undefined)) return undefined
  const [dimension, value] = first ?? [column ?? 'all', undefined]
  return {
    columns: column === undefined ? sql`` : sql`value AS ${sql.id(column)}, `,
    table: 'gateway_spend_total',
    wanted: value === undefined ? sql`dimension = ${dimension}` : sql`dimension = ${dimension} AND value = ${value}`,
  }
}

function together(by: Grouping | 'all', filters: SpendFilters, reach: Reach): Source {
  return {
    columns: sql``,
    table: by === 'tag' || filters.tag !== undefined ? 'gateway_spend_tag_rollup' : 'gateway_spend_rollup',
    wanted: all([
      ...SPEND_DIMENSIONS.map((dimension) => equal(dimension, filters[dimension])),
      equal('tag', filters.tag),
      withinReach(reach),
    ]),
  }
}
