import { type RawBuilder, sql } from 'kysely'
import { rowsOf } from '../query.ts'
import type { Sql } from '../sql.ts'
import { RANKED_PLACES, RANKED_WITHIN } from './ended-days.ts'
import { DAY_MS, GROUPINGS, type Grouping, type Subject, sumsSource } from './spend-source.ts'

export interface Places {
  readonly offset: number
  readonly limit: number
}

/** The most expensive values of a grouping in the whole range, found by two sums alone: reports have dozens. */
export async function mostExpensive(database: Sql, subject: Subject, by: Grouping, places: Places): Promise<string[]> {
  const candidates = await candidatesFor(database, subject, by, places)
  const own = sql.id(GROUPINGS[by].column)
  const counted = sumsSource(subject, [by], candidates && { by, values: candidates })
  const rows = await rowsOf(
    database,
    sql<{ value: string }>`
      SELECT ${own} AS value FROM ${counted} GROUP BY ${own}
      ORDER BY sum(cost_nano) DESC, sum(calls) DESC, ${own} LIMIT ${places.limit} OFFSET ${places.offset}`,
  )
  return rows.map(({ value }) => value)
}

/** The longest ranges in days, and the last places, that are ranked by the most expensive values of each day. */
const MOST_DAYS = 100
const MOST_PLACES = 1000

/** Candidates that certainly contain the most expensive values, from the few most expensive of each day (Fagin's
 *  threshold algorithm): a value that is on no day's list has cost at most the sum of the lists' last entries.
 *  undefined if the lists are too short to be certain. */
async function candidatesFor(
  database: Sql,
  subject: Subject,
  by: Grouping,
  { offset, limit }: Places,
): Promise<readonly string[] | undefined> {
  const { range } = subject
  const [from, to] = [Date.parse(range.from), Date.parse(range.to)]
  const first = Math.floor(from / DAY_MS) * DAY_MS
  const days = Array.from({ length: Math.ceil((to - first) / DAY_MS) }, (_, index) => first + index * DAY_MS)
  const places = offset + limit
  if (days.length > MOST_DAYS || places > MOST_PLACES) return undefined
  const asked = sql`${days.map((day) => new Date(day).toISOString())}::timestamptz[]`
  const daily = topOfDays(subject, by, asked, 4 * places + 100)
  if (!daily) return undefined
  const found = await rowsOf(
    database,
    sql<{ id: string; sure: boolean }>`
      WITH ${daily.entry}, edge AS (
        SELECT day, min(cost_nano) AS most FROM entry GROUP BY day HAVING count(*) = ${daily.each}
      ), unseen AS (
        SELECT coalesce(sum(most), 0) AS most FROM edge
      ), candidate AS (
        -- Of a day that the range has in part, only the most that it can have cost is known.
        SELECT id, coalesce(sum(cost_nano) FILTER (WHERE day >= ${range.from}::timestamptz
            AND day + interval '24 hours' <= ${range.to}::timestamptz), 0) AS least,
          sum(cost_nano) - coalesce(sum(edge.most), 0) + (SELECT most FROM unseen) AS most
        FROM entry LEFT JOIN edge USING (day) GROUP BY id
      ), bar AS (
        SELECT least FROM candidate ORDER BY least DESC OFFSET ${places - 1} LIMIT 1
      )
      SELECT id, bar.least > unseen.most AND ${daily.isWhole} AS sure
      FROM candidate, bar, unseen WHERE candidate.most >= bar.least`,
  )
  return found[0]?.sure ? found.map(({ id }) => id) : undefined
}

interface TopOfDays {
  /** Common tables, among them `entry (day, id, cost_nano)` with the most expensive values of each day. */
  readonly entry: RawBuilder<unknown>
  /** The number of values of each day, which may have fewer. */
  readonly each: number
  /** Whether no day is left out. */
  readonly isWhole: RawBuilder<unknown>
}

/** How many days may be ranked by their sums: today, one that has just ended, and one that got a late call. */
const MOST_UNRANKED = 3

/** undefined where the costs of single days are not ranked. */
function topOfDays(
  { filled, reach, filters }: Subject,
  by: Grouping,
  asked: RawBuilder<unknown>,
  most: number,
): TopOfDays | undefined {
  const ranked = GROUPINGS[by].column
  if (!filled.gateway_spend_total || reach !== 'everything' || (ranked !== 'key_id' && ranked !== 'user_id')) return
  const [given, ...others] = Object.entries(filters).filter(([, value]) => value !== undefined)
  if (others.length > 0) return
  if (!given && ranked === 'key_id') return filled.gateway_spend_key_day ? topKeys(asked, most) : undefined
  const [dimension, value] = given ?? ['all', '']
  const within = RANKED_WITHIN.find((name) => name === dimension)
  if (given && !within) return
  const each = Math.min(most, RANKED_PLACES)
  const sums = within
    ? sql`SELECT ${sql.id(ranked)} AS id, sum(cost_nano) AS cost_nano FROM gateway_spend_rollup
        WHERE grain = 'day' AND bucket = state.day AND ${sql.id(within)} = ${value} GROUP BY ${sql.id(ranked)}`
    : sql`SELECT value AS id, cost_nano FROM gateway_spend_total
        WHERE grain = 'day' AND dimension = ${sql.lit(ranked)} AND bucket = state.day`
  const isWhole = sql`(SELECT count(*) <= ${MOST_UNRANKED} FROM state WHERE NOT is_ranked)`
  const entry = sql`state AS MATERIALIZED (
    SELECT total.bucket AS day, held.ids, held.costs_nano, held.day IS NOT NULL AS is_ranked
    FROM gateway_spend_total AS total LEFT JOIN gateway_spend_ranking AS held
      ON held.dimension = total.dimension AND held.value = total.value AND held.ranked = ${sql.lit(ranked)}
        AND held.day = total.bucket AND held.calls = total.calls
    WHERE total.grain = 'day' AND total.dimension = ${dimension} AND total.value = ${value}
      AND total.bucket = ANY(${asked})
  ), entry AS (
    SELECT day, one.id, one.cost_nano FROM state
    CROSS JOIN LATERAL unnest(ids[:${each}::int], costs_nano[:${each}::int]) AS one (id, cost_nano)
    UNION ALL
    SELECT day, one.id, one.cost_nano FROM state
    CROSS JOIN LATERAL (SELECT * FROM (${sums}) AS sums ORDER BY cost_nano DESC LIMIT ${each}) AS one
    WHERE NOT is_ranked AND ${isWhole}
  )`
  return { entry, each, isWhole }
}

/** The costs of keys by day are stored in order, even those of today. */
function topKeys(asked: RawBuilder<unknown>, each: number): TopOfDays {
  const entry = sql`entry AS (
    SELECT day, top.id, top.cost_nano FROM unnest(${asked}) AS of (day)
    CROSS JOIN LATERAL (
      SELECT key_id AS id, cost_nano FROM gateway_spend_key_day AS one WHERE one.day = of.day
      ORDER BY cost_nano DESC LIMIT ${each}) AS top
  )`
  return { entry, each, isWhole: sql`true` }
}
