import { type RawBuilder, sql } from 'kysely'
import { batchOf, queries, rowsOf } from './query.ts'
import { SERVED_DIMENSIONS, SPEND_DIMENSIONS, SPEND_SUMS, type SpendDimension } from './spend/spend-sums.ts'
import type { Sql } from './sql.ts'

export type Target = 'gateway_spend_total' | 'gateway_spend_tag' | 'gateway_spend_key_day' | 'gateway_spend_served'

/** Fills tables that are newer than the ledger with earlier calls. Any number of processes may do it at once, and each
 *  may end at any time. */
export interface Backfill {
  /** Fills a part; resolves with false if there is nothing to fill now. */
  step(now: number): Promise<boolean>
  /** Nothing is left to fill, now or later. */
  readonly over: boolean
}

interface State {
  readonly target: Target
  readonly begun_at: string
  readonly filled_to: string | null
}

/** Fills a table from a time on; resolves with the time up to which it is filled. */
type Fill = (sql: Sql, from: string | undefined, until: string) => Promise<string>

const FILLS: Readonly<Record<Target, Fill>> = {
  gateway_spend_total: byDays('gateway_spend_total', (day) =>
    (['all', ...SPEND_DIMENSIONS, 'tag'] as const).map((dimension) => missingTotals(dimension, day)),
  ),
  gateway_spend_tag: fillTags,
  gateway_spend_key_day: byDays('gateway_spend_key_day', (day) => [missingKeyDays(day)]),
  gateway_spend_served: byDays('gateway_spend_served', (day) => [missingServed(day)]),
}

/** The time for which processes of an older build, which do not write to the table, may still run. */
const BESIDE_MS = 86_400_000
/** The most delay with which a process writes a call. */
const LATE_MS = 15 * 60_000
/** The interval at which calls of older builds are added. */
const AGAIN_MS = 10 * 60_000

/** Whether a table contains all calls from before it. */
export async function isFilled(database: Sql, target: Target): Promise<boolean> {
  const missing = queries
    .selectFrom('gateway_backfill')
    .select('target')
    .where('target', '=', target)
    .where('filled_at', 'is', null)
  return (await rowsOf(database, missing)).length === 0
}

export function backfill(database: Sql): Backfill {
  let over = false
  return {
    get over() {
      return over
    },
    async step(now) {
      if (over) return false
      const rows = await rowsOf(
        database,
        queries.selectFrom('gateway_backfill').select(['target', 'begun_at', 'filled_to']).orderBy('target'),
      )
      // A newer build may have made tables of which this one does not know.
      const known = rows.filter(({ target }) => Object.hasOwn(FILLS, target))
      const states = known.filter((state) => timeOf(state.filled_to) < timeOf(state.begun_at) + BESIDE_MS)
      if (states.length === 0) {
        over = true
        await rowsOf(database, FORMER_INDEX)
        return false
      }
      const until = now - LATE_MS
      const due = states.find((state) => isDue(state, until))
      if (!due) return false
      const { target, filled_to: from } = due
      const reached = await FILLS[target](database, from ?? undefined, new Date(until).toISOString())
      await rowsOf(
        database,
        sql`
          UPDATE gateway_backfill SET filled_to = greatest(filled_to, ${reached}::timestamptz),
            filled_at = coalesce(filled_at, CASE WHEN ${reached}::timestamptz >= begun_at THEN now() END)
          WHERE target = ${target}`,
      )
      return true
    },
  }
}

/** An index of older builds over the tags of the ledger. */
const FORMER_INDEX = sql`DROP INDEX CONCURRENTLY IF EXISTS gateway_spend_tags`

/** Earlier calls are filled at once; those that older builds write meanwhile, at intervals. What may still be written is
 *  waited for, while another table has its turn. */
function isDue({ begun_at, filled_to }: State, until: number): boolean {
  const [begunAt, filledTo] = [timeOf(begun_at), timeOf(filled_to)]
  return filledTo < until - AGAIN_MS || (filledTo < begunAt && begunAt <= until)
}

const timeOf = (time: string | null) => (time === null ? Number.NEGATIVE_INFINITY : Date.parse(time))

const ROWS_A_STEP = 20_000

/** The tags of some rows of the ledger. */
async function fillTags(database: Sql, from = '-infinity', until: string): Promise<string> {
  const within = (to: string) => sql`at > ${from}::timestamptz AND at <= ${to}::timestamptz`
  const [last] = await rowsOf(
    database,
    sql<{ at: string }>`
      SELECT at FROM gateway_spend WHERE ${within(until)} ORDER BY at OFFSET ${ROWS_A_STEP - 1} LIMIT 1`,
  )
  const to = last?.at ?? until
  await rowsOf(
    database,
    sql`
      INSERT INTO gateway_spend_tag (tag, at, call_id)
      SELECT tag, at, call_id FROM gateway_spend CROSS JOIN unnest(tags) AS tag WHERE ${within(to)}
      ORDER BY tag, at, call_id ON CONFLICT DO NOTHING`,
  )
  return to
}

/** Fills a day from the rollups, which are as old as the ledger, by one statement after the other. */
function byDays(target: Target, missing: (day: string) => readonly RawBuilder<unknown>[]): Fill {
  return async (database, from = '-infinity', until) => {
    const [{ day, next }] = (await rowsOf(
      database,
      sql<{ day: string | null; next: string }>`
        SELECT min(bucket) AS day, least(min(bucket) + interval '24 hours', ${until}::timestamptz) AS next
        FROM gateway_spend_rollup WHERE grain = 'day' AND bucket <= ${until}::timestamptz
          AND bucket > ${from}::timestamptz - interval '24 hours'`,
    )) as [{ day: string | null; next: string }]
    if (day === null) return until
    for (const statement of missing(day)) await batchOf(database, [lockOf(target), statement])
    return next
  }
}

/** Locks a row, so that processes fill one after the other: two at once would add the same sums twice. */
const lockOf = (target: Target) =>
  queries.selectFrom('gateway_backfill').select('target').where('target', '=', target).forUpdate()

/** The missing totals of one dimension on one day. */
function missingTotals(dimension: 'all' | SpendDimension | 'tag', day: string): RawBuilder<unknown> {
  const value = dimension === 'all' ? sql`''` : sql.id(dimension)
  return missingSums(dimension === 'tag' ? 'gateway_spend_tag_rollup' : 'gateway_spend_rollup', day, {
    table: 'gateway_spend_total',
    keys: { dimension: sql`${sql.lit(dimension)}`, value },
  })
}

const missingServed = (day: string) =>
  missingSums('gateway_spend_rollup', day, {
    table: 'gateway_spend_served',
    keys: Object.fromEntries(SERVED_DIMENSIONS.map((name) => [name, sql.id(name)])),
  })

/** A table of sums, and its columns beside the grain and the bucket, as the rollup has them. */
interface Summed {
  readonly table: 'gateway_spend_total' | 'gateway_spend_served'
  readonly keys: Readonly<Record<string, RawBuilder<unknown>>>
}

/** Computes and adds the missing sums of one day in one statement. Calls that are written meanwhile add the same to both
 *  tables, and lock rows in the same order, so that no deadlock occurs. */
function missingSums(rollup: string, day: string, { table, keys }: Summed): RawBuilder<unknown> {
  const sums = SPEND_SUMS.map((name) => sql.id(name))
  const values = sql.join(Object.entries(keys).map(([name, value]) => sql`${value} AS ${sql.id(name)}`))
  const own = ['grain', 'bucket', ...Object.keys(keys)].map((name) => sql.id(name))
  return sql`
    INSERT INTO ${sql.table(table)} (${sql.join([...own, ...sums])})
    SELECT ${sql.join([
      ...own.map((name) => sql`whole.${name}`),
      ...sums.map((name) => sql`whole.${name} - coalesce(held.${name}, 0)`),
    ])}
    FROM (
      SELECT grain, bucket, ${values}, ${sql.join(sums.map((name) => sql`sum(${name}) AS ${name}`))}
      FROM ${sql.table(rollup)}
      WHERE grain IN ('day', 'hour')
        AND bucket >= ${day}::timestamptz AND bucket < ${day}::timestamptz + interval '24 hours'
      GROUP BY ${sql.join(own.map((_, index) => sql.lit(index + 1)))}
    ) AS whole
    LEFT JOIN ${sql.table(table)} AS held
      ON ${sql.join(
        own.map((name) => sql`held.${name} = whole.${name}`),
        sql` AND `,
      )}
    WHERE whole.calls > coalesce(held.calls, 0)
    ORDER BY ${sql.join(own.map((name) => sql`whole.${name}`))}
    ON CONFLICT (${sql.join(own)}) DO UPDATE
      SET ${sql.join(sums.map((name) => sql`${name} = ${sql.table(table)}.${name} + excluded.${name}`))}`
}

/** The same of what keys have cost on one day. */
function missingKeyDays(day: string): RawBuilder<unknown> {
  return sql`
    INSERT INTO gateway_spend_key_day (day, key_id, cost_nano)
    SELECT whole.day, whole.key_id, whole.cost_nano - coalesce(held.cost_nano, 0)
    FROM (
      SELECT bucket AS day, key_id, sum(cost_nano) AS cost_nano FROM gateway_spend_rollup
      WHERE grain = 'day' AND bucket >= ${day}::timestamptz AND bucket < ${day}::timestamptz + interval '24 hours'
      GROUP BY 1, 2
    ) AS whole
    LEFT JOIN gateway_spend_key_day AS held USING (day, key_id)
    WHERE whole.cost_nano > coalesce(held.cost_nano, 0)
    ORDER BY whole.day, whole.key_id
    ON CONFLICT (day, key_id) DO UPDATE SET cost_nano = gateway_spend_key_day.cost_nano + excluded.cost_nano`
}
