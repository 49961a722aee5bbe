import { type RawBuilder, sql } from 'kysely'
import { isFilled } from '../backfill.ts'
import { rowsOf } from '../query.ts'
import type { Owner, Reach } from '../records/reach.ts'
import type { Sql } from '../sql.ts'
import type { CallDetail } from './call-detail.ts'
import { FACT_NAMES } from './call-facts.ts'
import { type CallerNames, withNames } from './caller-names.ts'
import { all, equal, ofDimensions, type SpendFilters, withinReach } from './spend-filters.ts'
import type { SpendRow } from './spend-row.ts'
import { type UsualFilters, usualConditions } from './usual-filters.ts'

/** A row read from the ledger, whose int8 values are text, with the names that its ids have now. */
export type LoggedCall = { readonly [Column in keyof SpendRow]: SpendRow[Column] | string } & CallerNames

/** A call with its detail; null where its facts say everything. */
export type DetailedCall = LoggedCall & { readonly detail: CallDetail | null }

/** The last call of a page. */
export interface LogPosition {
  readonly at: string
  readonly callId: string
}

export interface LogQuery extends SpendFilters, UsualFilters {
  readonly ending?: string | undefined
  readonly status?: number | undefined
  readonly request_id?: string | undefined
  readonly batch_id?: string | undefined
  readonly prompt?: string | undefined
  readonly error_type?: string | undefined
  /** Calls of which an attempt failed and another one followed. */
  readonly failed_over?: boolean | undefined
  /** Calls that failed before any deployment was asked. */
  readonly refused?: boolean | undefined
  /** Calls whose price is unknown. */
  readonly unpriced?: boolean | undefined
  /** Inclusive. */
  readonly from?: string | undefined
  /** Exclusive. */
  readonly to?: string | undefined
  readonly after?: LogPosition | undefined
  readonly limit: number
}

/** Reads the ledger row by row, newest first. */
export interface SpendLog {
  page(reach: Reach, query: LogQuery): Promise<LoggedCall[]>
  /** One call within the reach. */
  find(reach: Reach, callId: string): Promise<DetailedCall | undefined>
}

const COLUMNS = sql.join(FACT_NAMES.map((column) => sql.id(column)))
const CALL_COLUMNS = sql.join(FACT_NAMES.map((column) => sql.id('call', column)))
const NEWEST_FIRST = sql`ORDER BY at DESC, call_id DESC`

/** The table by which calls are found and ordered. A query by tag uses the table of tags once it is filled. */
type Order = 'call' | 'tagged'
const CALLS = sql`gateway_spend AS call`
const TAGGED = sql`gateway_spend_tag AS tagged JOIN gateway_spend AS call ON call.call_id = tagged.call_id`

export function spendLog(database: Sql): SpendLog {
  let filled = false
  async function hasTags(): Promise<boolean> {
    filled ||= await isFilled(database, 'gateway_spend_tag')
    return filled
  }

  return {
    async page(reach, query) {
      const order: Order = query.tag !== undefined && (await hasTags()) ? 'tagged' : 'call'
      const filter = conditions(query, order)
      const limit = sql`LIMIT ${query.limit}`
      const calls = order === 'call' ? CALLS : TAGGED
      const newestFirst = sql`ORDER BY ${sql.id(order, 'at')} DESC, ${sql.id(order, 'call_id')} DESC`
      const newest = (where: RawBuilder<unknown>) =>
        sql<LoggedCall>`SELECT ${CALL_COLUMNS} FROM ${calls} WHERE ${where} AND ${filter} ${newestFirst} ${limit}`
      const text = reach === 'everything' ? newest(sql`true`) : merged(reach, newest, limit)
      return rowsOf(database, withNames(text, NEWEST_FIRST))
    },

    async find(reach, callId) {
      const where = all([sql`call_id = ${callId}`, withinReach(reach)])
      const [found] = await rowsOf(
        database,
        withNames(sql<DetailedCall>`SELECT ${COLUMNS}, detail FROM gateway_spend WHERE ${where}`),
      )
      return found
    },
  }
}

/** Merges the newest calls of each organization and team, and of the owner, each read by its own index. One condition
 *  for all would read the ledger from its end until enough rows are found. */
function merged(
  { organizations, teams, own }: Exclude<Reach, 'everything'>,
  newest: (where: RawBuilder<unknown>) => RawBuilder<LoggedCall>,
  limit: RawBuilder<unknown>,
): RawBuilder<LoggedCall> {
  const inOrganization = sql`organization_id = scope.id AND organization_id <> ''`
  const inTeam = sql`team_id = scope.id AND team_id <> '' AND organization_id <> ALL(${organizations}::text[])`
  const ofOwner = ({ userId }: Owner) => sql`user_id = ${userId} AND user_id <> ''
    AND organization_id <> ALL(${organizations}::text[]) AND team_id <> ALL(${teams}::text[])`
  return sql<LoggedCall>`
    SELECT ${COLUMNS} FROM (
      SELECT found.* FROM unnest(${organizations}::text[]) AS scope (id)
      CROSS JOIN LATERAL (${newest(inOrganization)}) AS found
      UNION ALL
      SELECT found.* FROM unnest(${teams}::text[]) AS scope (id) CROSS JOIN LATERAL (${newest(inTeam)}) AS found
      ${own === undefined ? sql`` : sql`UNION ALL SELECT found.* FROM (${newest(ofOwner(own))}) AS found`}
    ) AS visible ${NEWEST_FIRST} ${limit}`
}

function conditions(query: LogQuery, order: Order): RawBuilder<unknown> {
  const { ending, status, request_id, tag, from, to, after } = query
  const ordered = sql.id(order)
  const tagged = order === 'tagged' ? sql`tagged.tag = ${tag}` : sql`call.tags @> ${[tag]}::text[]`
  return all([
    ...ofDimensions(query),
    equal('batch_id', query.batch_id),
    equal('prompt', query.prompt),
    request_id === undefined ? undefined : sql`request_id = ${request_id}`,
    tag === undefined ? undefined : tagged,
    ending === undefined ? undefined : sql`ending = ${ending}`,
    ending === undefined || ending === 'answered' ? undefined : sql`ending <> 'answered'`,
    status === undefined ? undefined : sql`status = ${status}`,
    status === undefined || status === 200 ? undefined : sql`status <> 200`,
    equal('error_type', query.error_type),
    query.failed_over ? sql`failed_over` : undefined,
    query.refused ? sql`ending = 'failed' AND attempts = 0` : undefined,
    query.unpriced ? sql`cost_nano IS NULL` : undefined,
    ...usualConditions(query),
    from === undefined ? undefined : sql`${ordered}.at >= ${from}::timestamptz`,
    to === undefined ? undefined : sql`${ordered}.at < ${to}::timestamptz`,
    after === undefined
      ? undefined
      : sql`(${ordered}.at, ${ordered}.call_id) < (${after.at}::timestamptz, ${after.callId})`,
  ])
}
