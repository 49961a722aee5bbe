import { type RawBuilder, sql } from 'kysely'
import { queries, rowsOf, statementOf } from '../query.ts'
import type { Sql } from '../sql.ts'
import type { Reach } from './reach.ts'

/** A field before and after a change. */
export interface FieldChange {
  readonly old: unknown
  readonly new: unknown
}

/** An event of the administration or of an account, refused ones included. It holds no credential. */
export interface AuditEvent {
  readonly event_id: string
  /** ISO 8601 UTC. */
  readonly occurred_at: string
  readonly actor_type: string
  readonly actor_id: string | null
  readonly organization_id: string | null
  /** `key.create`, `team.update`. */
  readonly action: string
  readonly resource_type: string
  readonly resource_id: string | null
  readonly request_id: string
  readonly ip: string | null
  readonly user_agent: string | null
  /** Of the HTTP answer. */
  readonly status: number
  readonly changes: Readonly<Record<string, FieldChange>>
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Each column's type, in the order of the exports. */
const TYPES = {
  event_id: sql`text`,
  occurred_at: sql`timestamptz`,
  actor_type: sql`text`,
  actor_id: sql`text`,
  organization_id: sql`text`,
  action: sql`text`,
  resource_type: sql`text`,
  resource_id: sql`text`,
  request_id: sql`text`,
  ip: sql`text`,
  user_agent: sql`text`,
  status: sql`integer`,
  changes: sql`json`,
  metadata: sql`json`,
} as const satisfies Record<keyof AuditEvent, RawBuilder<unknown>>

export const AUDIT_COLUMNS = Object.keys(TYPES) as (keyof AuditEvent)[]

/** An event with the current names of its actor and its resource. */
export interface NamedEvent extends AuditEvent {
  /** The address of an account, or the name of a key. */
  readonly actor_name: string | null
  readonly resource_name: string | null
}

/** Columns that must hold a value. */
export const AUDIT_FILTERS = [
  'event_id',
  'resource_type',
  'resource_id',
  'actor_id',
  'organization_id',
  'request_id',
] as const

export interface AuditPage {
  readonly reach: Reach
  readonly filters: Readonly<Partial<Record<(typeof AUDIT_FILTERS)[number], string | undefined>>>
  /** Any of these. */
  readonly actions?: readonly string[] | undefined
  /** Inclusive. */
  readonly statuses?: { readonly from: number; readonly to: number } | undefined
  /** ISO 8601, inclusive. */
  readonly from: string | undefined
  /** ISO 8601, exclusive. */
  readonly to: string | undefined
  /** The last event of the page before. */
  readonly after: Pick<AuditEvent, 'occurred_at' | 'event_id'> | undefined
  readonly limit: number
}

/** Writes events. It is idempotent by their ids. */
export async function insertAuditEvents(database: Sql, events: readonly AuditEvent[]): Promise<void> {
  const names = AUDIT_COLUMNS.map((name) => sql.id(name))
  const arrays = AUDIT_COLUMNS.map((name) => sql`${events.map((event) => event[name])}::${TYPES[name]}[]`)
  await rowsOf(
    database,
    sql`
      INSERT INTO gateway_audit_event (${sql.join(names)})
      SELECT * FROM unnest(${sql.join(arrays)}) ON CONFLICT DO NOTHING`,
  )
}

/** Newest first. */
export async function auditPage(
  database: Sql,
  { reach, filters, actions, statuses, from, to, after, limit }: AuditPage,
): Promise<NamedEvent[]> {
  let page = queries
    .selectFrom('gateway_audit_event')
    .select(AUDIT_COLUMNS)
    .orderBy('occurred_at', 'desc')
    .orderBy('event_id', 'desc')
    .limit(limit)
  if (reach !== 'everything')
    page = page.where('organization_id', '=', sql<string>`ANY(${reach.organizations}::text[])`)
  for (const name of AUDIT_FILTERS) {
    const value = filters[name]
    if (value !== undefined) page = page.where(name, '=', value)
  }
  if (actions) page = page.where('action', '=', sql<string>`ANY(${actions}::text[])`)
  if (statuses) page = page.where('status', '>=', statuses.from).where('status', '<=', statuses.to)
  // Said so, that its index is found usable.
  if (statuses && statuses.from >= 400) page = page.where('status', '>=', sql<number>`400`)
  if (from !== undefined) page = page.where('occurred_at', '>=', from)
  if (to !== undefined) page = page.where('occurred_at', '<', to)
  if (after) {
    const { occurred_at, event_id } = after
    page = page.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('occurred_at', 'event_id'), '<', tuple(occurred_at, event_id)),
    )
  }
  return rowsOf(database, sql<NamedEvent>`SELECT event.*, ${NAMES} FROM (${page}) AS event ${NAMED} ${NEWEST_FIRST}`)
}

const NEWEST_FIRST = sql`ORDER BY event.occurred_at DESC, event.event_id DESC`
const NAMES = sql`coalesce(actor.email, acting_key.key_name) AS actor_name,
  coalesce(key.key_name, team.team_name, organization.organization_name, person.user_name, person.user_email, account.email)
    AS resource_name`
const NAMED = sql`
  LEFT JOIN gateway_account AS actor ON event.actor_type = 'account' AND actor.account_id = event.actor_id
  LEFT JOIN gateway_key AS acting_key ON event.actor_type = 'api_key' AND acting_key.key_id = event.actor_id
  LEFT JOIN gateway_key AS key ON event.resource_type = 'key' AND key.key_id = event.resource_id
  LEFT JOIN gateway_team AS team ON event.resource_type = 'team' AND team.team_id = event.resource_id
  LEFT JOIN gateway_organization AS organization
    ON event.resource_type = 'organization' AND organization.organization_id = event.resource_id
  LEFT JOIN gateway_user AS person ON event.resource_type = 'user' AND person.user_id = event.resource_id
  LEFT JOIN gateway_account AS account ON event.resource_type = 'account' AND account.account_id = event.resource_id`

/** Removes the oldest events beyond an age, at most `limit`; resolves with their number. */
export async function removeAuditEvents(database: Sql, days: number, limit: number): Promise<number> {
  const removed = await database.query(
    statementOf(sql`
      DELETE FROM gateway_audit_event WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM gateway_audit_event WHERE occurred_at < now() - make_interval(hours => ${24 * days})
        ORDER BY occurred_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`),
  )
  return removed.affected
}
