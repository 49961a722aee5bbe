import { sql } from 'kysely'
import { isFilled } from '../backfill.ts'
import { batchOf, rowsOf } from '../query.ts'
import type { Reach } from '../records/reach.ts'
import type { Sql } from '../sql.ts'
import type { SpendFilters } from './spend-filters.ts'
import { mostExpensive, type Places } from './spend-ranking.ts'
import {
  GROUPINGS,
  type Grouping,
  isRanked,
  isTime,
  nameOf,
  type ReportRange,
  type Some,
  type Subject,
  sumsSource,
} from './spend-source.ts'
import { SPEND_SUMS, type SpendSum } from './spend-sums.ts'

/** Sums read from the database, whose int8 and numeric values are text. */
export type Sums = Readonly<Record<SpendSum, string | number>>
export interface GroupSums extends Sums {
  readonly group_value: string
  readonly group_name: string | null
}
export interface SplitSums extends GroupSums {
  /** null: the sum of all values without a row of their own. */
  readonly split_value: string | null
  readonly split_name: string | null
}

interface Page extends Places {
  readonly by: Grouping
}

/** Sums of the ledger, read from the rollups, so that their cost does not grow with the number of calls. */
export interface SpendReports {
  /** The sums of the range, and of the range of the same length before it. */
  totals(reach: Reach, range: ReportRange, filters: SpendFilters): Promise<{ current: Sums; previous: Sums }>
  /** The sums of each group: in order of time, or the most expensive first for other groupings. */
  grouped(reach: Reach, range: ReportRange, query: SpendFilters & Page): Promise<GroupSums[]>
  /** The same, each group split by another grouping: into the `top` most expensive values of the whole range, and all
   *  others together. */
  split(
    reach: Reach,
    range: ReportRange,
    query: SpendFilters & Page & { readonly splitBy: Grouping; readonly top: number },
  ): Promise<SplitSums[]>
}

const TOTALS = sql.join(SPEND_SUMS.map((name) => sql`coalesce(sum(${sql.id(name)}), 0) AS ${sql.id(name)}`))
const IN_TIME = sql`group_value`
const DEAREST_FIRST = sql`cost_nano DESC, calls DESC, group_value`

export function spendReports(database: Sql): SpendReports {
  const filled = { gateway_spend_total: false, gateway_spend_served: false, gateway_spend_key_day: false }
  /** The tables that are filled. Until then reports read the rollups, which are always complete. */
  async function tables(): Promise<Readonly<typeof filled>> {
    for (const table of Object.keys(filled) as (keyof typeof filled)[])
      filled[table] ||= await isFilled(database, table)
    return filled
  }
  const about = async (reach: Reach, range: ReportRange, filters: SpendFilters): Promise<Subject> => ({
    reach,
    range,
    filters,
    filled: await tables(),
  })

  return {
    async totals(reach, range, filters) {
      const { from, to } = range
      const subject = await about(reach, range, filters)
      const length = Date.parse(to) - Date.parse(from)
      const before = { from: new Date(Date.parse(from) - length).toISOString(), to: from }
      const total = (within: ReportRange) =>
        sql<Sums>`SELECT ${TOTALS} FROM ${sumsSource({ ...subject, range: within }, [])}`
      const [current, previous] = await batchOf(database, [total(range), total(before)])
      return { current: current[0] as Sums, previous: previous[0] as Sums }
    },

    async grouped(reach, range, { by, offset, limit, ...filters }) {
      const { column } = GROUPINGS[by]
      const order = isTime(by) ? IN_TIME : DEAREST_FIRST
      const subject = await about(reach, range, filters)
      const { name, joined } = nameOf(by, sql`group_value`, 'group_of')
      const ranked = isRanked(subject, by)
      const values = ranked ? await mostExpensive(database, subject, by, { limit, offset }) : undefined
      if (values?.length === 0) return []
      const counted = sumsSource(subject, [by], values && { by, values })
      const page = values ? sql`` : sql`LIMIT ${limit} OFFSET ${offset}`
      return rowsOf(
        database,
        sql<GroupSums>`
          WITH sums AS (
            SELECT ${sql.id(column)} AS group_value, ${TOTALS} FROM ${counted}
            GROUP BY ${sql.id(column)} ORDER BY ${order} ${page}
          )
          SELECT sums.*, ${name} AS group_name FROM sums ${joined} ORDER BY ${order}`,
      )
    },

    async split(reach, range, { by, splitBy, top, offset, limit, ...filters }) {
      const subject = await about(reach, range, filters)
      const ranked = isRanked(subject, splitBy)
      const values = ranked ? await mostExpensive(database, subject, splitBy, { limit: top, offset: 0 }) : undefined
      const groupName = nameOf(by, sql`group_value`, 'group_of')
      const splitName = nameOf(splitBy, sql`split_value`, 'split_of')
      const groups = isTime(by) ? sql`group_value` : sql`whole DESC, group_value`
      const splits = isTime(splitBy)
        ? sql`split_value`
        : sql`split_value IS NULL, cost_nano DESC, calls DESC, split_value`
      // A call counts under each of its tags, so that the sums of kept and other tags overlap.
      const sums =
        values && isTime(by) && splitBy !== 'tag'
          ? withRest(subject, by, { by: splitBy, values })
          : everyGroup(subject, by, splitBy, values ?? top)
      return rowsOf(
        database,
        sql<SplitSums>`
          WITH ${sums},
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

const columnOf = (by: Grouping) => sql.id(GROUPINGS[by].column)

/** The common table `sums` of all calls by two groupings, the second of which is limited to some values or to the most
 *  expensive ones. */
function everyGroup(subject: Subject, by: Grouping, splitBy: Grouping, kept: readonly string[] | number) {
  const isKept =
    typeof kept === 'number'
      ? sql`split_value IN (SELECT one.split_value FROM each AS one GROUP BY one.split_value
          ORDER BY sum(one.cost_nano) DESC, sum(one.calls) DESC, one.split_value LIMIT ${kept})`
      : sql`split_value = ANY(${kept}::text[])`
  const value = isTime(splitBy) ? sql`split_value` : sql`CASE WHEN ${isKept} THEN split_value END`
  return sql`each AS MATERIALIZED (
    SELECT ${columnOf(by)} AS group_value, ${columnOf(splitBy)} AS split_value, ${TOTALS}
    FROM ${sumsSource(subject, [by, splitBy])} GROUP BY 1, 2
  ), sums AS (
    SELECT group_value, ${value} AS split_value, ${TOTALS} FROM each GROUP BY 1, 2
  )`
}

/** The same over time, with far fewer rows for a grouping of many values: the kept ones, and for the others the sums of
 *  all calls less those of the kept ones. */
function withRest(subject: Subject, by: Grouping, kept: Some) {
  const rest = SPEND_SUMS.map((name) => sql`whole.${sql.id(name)} - coalesce(part.${sql.id(name)}, 0)`)
  return sql`kept AS (
    SELECT ${columnOf(by)} AS group_value, ${columnOf(kept.by)} AS split_value, ${TOTALS}
    FROM ${sumsSource(subject, [by, kept.by], kept)} GROUP BY 1, 2
  ), whole AS (
    SELECT ${columnOf(by)} AS group_value, ${TOTALS} FROM ${sumsSource(subject, [by])} GROUP BY 1
  ), part AS (
    SELECT group_value, ${TOTALS} FROM kept GROUP BY 1
  ), sums AS (
    SELECT * FROM kept
    UNION ALL SELECT group_value, NULL, ${sql.join(rest)} FROM whole LEFT JOIN part USING (group_value)
      WHERE whole.calls > coalesce(part.calls, 0)
  )`
}
