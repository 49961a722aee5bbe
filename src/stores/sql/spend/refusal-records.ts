import { type RawBuilder, sql } from 'kysely'
import { rowsOf, statementOf } from '../query.ts'
import type { Reach } from '../records/reach.ts'
import type { Sql } from '../sql.ts'
import { type CallerNames, withNames } from './caller-names.ts'
import { all, withinReach } from './spend-filters.ts'

/** The facts by which refused model calls are counted, in addition to the minute. '' means that there is none. */
export const REFUSAL_DIMENSIONS = [
  'key_id',
  'team_id',
  'organization_id',
  'user_id',
  'endpoint',
  'code',
  'scope',
] as const
export type RefusalDimension = (typeof REFUSAL_DIMENSIONS)[number]

/** How often calls of one kind were refused in one minute. */
export interface RefusalCount extends Readonly<Record<RefusalDimension, string>> {
  /** ISO 8601 UTC. */
  readonly minute: string
  readonly calls: number
}

/** A count of one process or isolate so far. Counts only grow. */
export interface RefusalCounts {
  readonly counter: string
  readonly counts: readonly RefusalCount[]
}

export type RefusalPosition = Omit<RefusalCount, 'calls'>

export interface RefusalQuery extends Readonly<Partial<Record<RefusalDimension, string | undefined>>> {
  /** Inclusive. */
  readonly from?: string | undefined
  /** Exclusive. */
  readonly to?: string | undefined
  readonly after?: RefusalPosition | undefined
  readonly limit: number
}

export type RefusalRow = Omit<RefusalCount, 'calls'> & CallerNames & { readonly calls: string }

/** Counts of refused model calls by minute. */
export interface RefusalRecords {
  /** Newest first, of all processes together. */
  page(reach: Reach, query: RefusalQuery): Promise<RefusalRow[]>
  /** Removes the oldest beyond an age, so many at most; resolves with how many were removed. */
  remove(days: number, limit: number): Promise<number>
}

const KEYS = ['minute', ...REFUSAL_DIMENSIONS] as const
const KEY_COLUMNS = sql.join(KEYS.map((name) => sql.id(name)))
const NEWEST_FIRST = sql`ORDER BY ${sql.join(KEYS.map((name) => sql`${sql.id(name)} DESC`))}`

/** Writes counts. A repeated or late one changes nothing: the highest count holds. */
export async function writeRefusals(database: Sql, entries: readonly RefusalCounts[]): Promise<void> {
  const rows = entries.flatMap(({ counter, counts }) => counts.map((count) => ({ counter, ...count })))
  if (rows.length === 0) return
  const texts = (['counter', ...REFUSAL_DIMENSIONS] as const).map(
    (name) => sql`${rows.map((row) => row[name])}::text[]`,
  )
  await rowsOf(
    database,
    sql`
      INSERT INTO gateway_refusal (minute, counter, ${sql.join(REFUSAL_DIMENSIONS.map((name) => sql.id(name)))}, calls)
      SELECT minute, counter, ${sql.join(REFUSAL_DIMENSIONS.map((name) => sql.id(name)))}, max(calls)
      FROM unnest(${rows.map(({ minute }) => minute)}::timestamptz[], ${sql.join(texts)},
        ${rows.map(({ calls }) => calls)}::bigint[])
        AS counted (minute, counter, ${sql.join(REFUSAL_DIMENSIONS.map((name) => sql.id(name)))}, calls)
      GROUP BY counter, ${KEY_COLUMNS} ORDER BY ${KEY_COLUMNS}, counter
      ON CONFLICT (${KEY_COLUMNS}, counter)
        DO UPDATE SET calls = greatest(gateway_refusal.calls, excluded.calls)`,
  )
}

export function refusalRecords(database: Sql): RefusalRecords {
  return {
    page(reach, query) {
      const page = sql<RefusalRow>`
        SELECT ${KEY_COLUMNS}, sum(calls)::bigint AS calls FROM gateway_refusal WHERE ${conditions(reach, query)}
        GROUP BY ${KEY_COLUMNS} ${NEWEST_FIRST} LIMIT ${query.limit}`
      return rowsOf(database, withNames(page, NEWEST_FIRST))
    },

    async remove(days, limit) {
      const removed = await database.query(
        statementOf(sql`
          DELETE FROM gateway_refusal WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM gateway_refusal WHERE minute < now() - make_interval(days => ${days})
            ORDER BY minute LIMIT ${limit} FOR UPDATE SKIP LOCKED))`),
      )
      return removed.affected
    },
  }
}

function conditions(reach: Reach, query: RefusalQuery): RawBuilder<unknown> {
  const { from, to, after } = query
  return all([
    ...REFUSAL_DIMENSIONS.map((name) => {
      const value = query[name]
      return value === undefined ? undefined : sql`${sql.id(name)} = ${value} AND ${sql.id(name)} <> ''`
    }),
    withinReach(reach),
    from === undefined ? undefined : sql`minute >= ${from}::timestamptz`,
    to === undefined ? undefined : sql`minute < ${to}::timestamptz`,
    after &&
      sql`(${KEY_COLUMNS}) < (${after.minute}::timestamptz, ${sql.join(REFUSAL_DIMENSIONS.map((name) => after[name]))})`,
  ])
}
