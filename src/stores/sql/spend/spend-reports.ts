import { type RawBuilder, sql } from 'kysely'
import { isFilled } from '../backfill.ts'
import { batchOf, rowsOf } from '../query.ts'
import type { Reach } from '../records/reach.ts'
import type { Sql } from '../sql.ts'
import type { SpendFilters } from './spend-filters.ts'
import { GROUPINGS, type Grouping, isTime, nameOf, type ReportRange, sumsSource } from './spend-source.ts'
import { SPEND_SUMS, type SpendSum } from './spend-sums.ts'

/** Sums read from the database, whose int8 and numeric values are text. */
export type Sums = Readonly<Record<SpendSum, string | number>>
export interface GroupSums extends Sums {
  readonly group_value: string
  readonly group_name: string | null
}
export interface SplitSums extends GroupSums {
  /** null: of all values that have no row of their own. */
  readonly split_value: string | null
  readonly split_name: string | null
}

interface Page {
  readonly by: Grouping
  readonly offset: number
  readonly limit: number
}

/** Sums of the ledger, read from the rollups, so that their cost does not grow with the number of calls. */
export interface SpendReports {
  /** The sums of the range, and of the range of the same length before it. */
  totals(reach: Reach, range: ReportRange, filters: SpendFilters): Promise<{ current: Sums; previous: Sums }>
  /** The sums of each group: in order of time, or the most expensive first for other groupings. */
  grouped(reach: Reach, range: ReportRange, query: SpendFilters & Page): Promise<GroupSums[]>
  /** The same, each group by another grouping: of that the `top` most expensive values of the whole range, and the
   *  others together. */
  split(
    reach: Reach,
    range: ReportRange,
    query: SpendFilters & Page & { readonly splitBy: Grouping; readonly top: number },
  ): Promise<SplitSums[]>
}

const NAMES = Object.keys(SPEND_SUMS) as SpendSum[]
const TOTALS = sql.join(NAMES.map((name) => sql`coalesce(sum(${sql.id(name)}), 0) AS ${sql.id(name)}`))
const IN_TIME = sql`group_value`
const DEAREST_FIRST = sql`cost_nano DESC, calls DESC, group_value`

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
        sql<Sums>`SELECT ${TOTALS} FROM ${sumsSource(short, reach, within, filters, [])}`
      const [current, previous] = await batchOf(database, [total(range), total(before)])
      return { current: current[0] as Sums, previous: previous[0] as Sums }
    },

    async grouped(reach, range, { by, offset, limit, ...filters }) {
      const { column } = GROUPINGS[by]
      const order = isTime(by) ? IN_TIME : DEAREST_FIRST
      const short = await hasTotals()
      const { name, joined } = nameOf(by, sql`group_value`, 'group_of')
      return rowsOf(
        database,
        sql<GroupSums>`
          WITH sums AS (
            SELECT ${sql.id(column)} AS group_value, ${TOTALS}
            FROM ${sumsSource(short, reach, range, filters, [by])}
            GROUP BY ${sql.id(column)} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}
          )
          SELECT sums.*, ${name} AS group_name FROM sums ${joined} ORDER BY ${order}`,
      )
    },

    async split(reach, range, { by, splitBy, top, offset, limit, ...filters }) {
      const short = await hasTotals()
      const [group, own] = [by, splitBy].map((one) => sql.id(GROUPINGS[one].column)) as [
        RawBuilder<unknown>,
        RawBuilder<unknown>,
      ]
      const groupName = nameOf(by, sql`group_value`, 'group_of')
      const splitName = nameOf(splitBy, sql`split_value`, 'split_of')
      const kept = isTime(splitBy) ? own : sql`CASE WHEN ${own} IN (SELECT kept FROM top) THEN ${own} END`
      const groups = isTime(by) ? sql`group_value` : sql`whole DESC, group_value`
      const splits = isTime(splitBy)
        ? sql`split_value`
        : sql`split_value IS NULL, cost_nano DESC, calls DESC, split_value`
      return rowsOf(
        database,
        sql<SplitSums>`
          WITH counted AS NOT MATERIALIZED (SELECT * FROM ${sumsSource(short, reach, range, filters, [by, splitBy])}),
          top AS (
            SELECT ${own} AS kept FROM counted GROUP BY ${own}
            ORDER BY sum(cost_nano) DESC, sum(calls) DESC, ${own} LIMIT ${top}
          ),
          sums AS (
            SELECT ${group} AS group_value, ${kept} AS split_value, ${TOTALS} FROM counted GROUP BY 1, 2
          ),
          page AS (
            SELECT *, sum(cost_nano) OVER (PARTITION BY group_value) AS whole FROM sums
            ORDER BY ${groups}, ${splits} LIMIT ${limit} OFFSET ${offset}
          )
          SELECT page.*, ${groupName.name} AS group_name, ${splitName.name} AS split_name
          FROM page ${groupName.joined} ${splitName.joined} ORDER BY ${groups}, ${splits}`,
      )
    },
  }
}
