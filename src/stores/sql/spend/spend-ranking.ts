import { sql } from 'kysely'
import { rowsOf } from '../query.ts'
import type { Reach } from '../records/reach.ts'
import type { Sql } from '../sql.ts'
import type { SpendFilters } from './spend-filters.ts'
import { DAY_MS, GROUPINGS, type Grouping, type ReportRange, type Some, sumsSource } from './spend-source.ts'

/** What a report is about. */
export interface Source {
  /** Whether the totals of one dimension may be used. */
  readonly short: boolean
  /** Whether what keys have cost on each day is there, in its order. */
  readonly ranked: boolean
  readonly reach: Reach
  readonly range: ReportRange
  readonly filters: SpendFilters
}

export interface Places {
  readonly offset: number
  readonly limit: number
}

export const sourceOf = ({ short, reach, range, filters }: Source, groupings: readonly Grouping[], only?: Some) =>
  sumsSource(short, reach, range, filters, groupings, only)

/** The most expensive values of a grouping in the whole range, found by two sums alone: reports have dozens. */
export async function dearest(database: Sql, source: Source, by: Grouping, places: Places): Promise<string[]> {
  const candidates = await candidatesFor(database, source, by, places)
  const own = sql.id(GROUPINGS[by].column)
  const counted = sourceOf(source, [by], candidates && { by, values: candidates })
  const rows = await rowsOf(
    database,
    sql<{ value: string }>`
      SELECT ${own} AS value FROM ${counted} GROUP BY ${own}
      ORDER BY sum(cost_nano) DESC, sum(calls) DESC, ${own} LIMIT ${places.limit} OFFSET ${places.offset}`,
  )
  return rows.map(({ value }) => value)
}

/** Ranges of so many days, and pages up to so many places, are ranked by the dearest of each day. */
const MOST_DAYS = 100
const MOST_PLACES = 1000

/** Keys among which the most expensive ones certainly are, from the few dearest of each day (Fagin's threshold): what is not
 *  among those has cost at most the least of them. Undefined where that does not tell; other groupings have few values. */
async function candidatesFor(
  database: Sql,
  { short, ranked, reach, range, filters }: Source,
  by: Grouping,
  { offset, limit }: Places,
): Promise<readonly string[] | undefined> {
  const isNarrowed = reach !== 'everything' || Object.values(filters).some((value) => value !== undefined)
  if (by !== 'key' || !short || !ranked || isNarrowed) return undefined
  const [from, to] = [Date.parse(range.from), Date.parse(range.to)]
  const first = Math.floor(from / DAY_MS) * DAY_MS
  const days = Array.from({ length: Math.ceil((to - first) / DAY_MS) }, (_, index) => first + index * DAY_MS)
  const places = offset + limit
  if (days.length > MOST_DAYS || places > MOST_PLACES) return undefined
  const each = 4 * places + 100
  const found = await rowsOf(
    database,
    sql<{ key_id: string; sure: boolean }>`
      WITH entry AS (
        -- Of a day that the range has in part, only the most that it can have cost is known.
        SELECT day, key_id, cost_nano,
          day >= ${range.from}::timestamptz AND day + interval '24 hours' <= ${range.to}::timestamptz AS is_whole
        FROM unnest(${days.map((day) => new Date(day).toISOString())}::timestamptz[]) AS of (day)
        CROSS JOIN LATERAL (
          SELECT key_id, cost_nano FROM gateway_spend_key_day AS one WHERE one.day = of.day
          ORDER BY cost_nano DESC LIMIT ${each}) AS dearest
      ), edge AS (
        SELECT day, min(cost_nano) AS most FROM entry GROUP BY day HAVING count(*) = ${each}
      ), unseen AS (
        SELECT coalesce(sum(most), 0) AS most FROM edge
      ), candidate AS (
        SELECT key_id, coalesce(sum(cost_nano) FILTER (WHERE is_whole), 0) AS least,
          sum(cost_nano) - coalesce(sum(edge.most), 0) + (SELECT most FROM unseen) AS most
        FROM entry LEFT JOIN edge USING (day) GROUP BY key_id
      ), bar AS (
        SELECT least FROM candidate ORDER BY least DESC OFFSET ${places - 1} LIMIT 1
      )
      SELECT key_id, bar.least > unseen.most AS sure FROM candidate, bar, unseen WHERE candidate.most >= bar.least`,
  )
  return found[0]?.sure ? found.map(({ key_id }) => key_id) : undefined
}
