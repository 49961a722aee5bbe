import { fragment, join, raw, statement } from '../fragment.ts'
import type { Sql } from '../sql.ts'
import type { Reach } from './reach.ts'

/** A field before and after a change. */
export interface FieldChange {
  readonly old: unknown
  readonly new: unknown
}

/** What somebody did, or tried to do, to what the gateway is made of. Holds no key and no secret. */
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
const COLUMNS = {
  event_id: 'text',
  occurred_at: 'timestamptz',
  actor_type: 'text',
  actor_id: 'text',
  organization_id: 'text',
  action: 'text',
  resource_type: 'text',
  resource_id: 'text',
  request_id: 'text',
  ip: 'text',
  user_agent: 'text',
  status: 'integer',
  changes: 'json',
  metadata: 'json',
} as const satisfies Record<keyof AuditEvent, string>

export const AUDIT_COLUMNS = Object.keys(COLUMNS) as (keyof AuditEvent)[]

/** Columns that must hold a value. */
export const AUDIT_FILTERS = ['action', 'resource_type', 'resource_id', 'actor_id', 'organization_id'] as const

export interface AuditPage {
  readonly reach: Reach
  readonly filters: Readonly<Partial<Record<(typeof AUDIT_FILTERS)[number], string | undefined>>>
  /** ISO 8601: from this moment on. */
  readonly from: string | undefined
  /** ISO 8601: before this moment. */
  readonly to: string | undefined
  /** The last event of the page before. */
  readonly after: Pick<AuditEvent, 'occurred_at' | 'event_id'> | undefined
  readonly limit: number
}

/** Writes events. One that was written before stays as it was. */
export async function insertAuditEvents(sql: Sql, events: readonly AuditEvent[]): Promise<void> {
  const arrays = AUDIT_COLUMNS.map((name) => fragment`${events.map((event) => event[name])}::${raw(COLUMNS[name])}[]`)
  await sql.query(
    statement(fragment`
      INSERT INTO gateway_audit_event (${raw(AUDIT_COLUMNS.join(', '))})
      SELECT * FROM unnest(${join(arrays, ', ')}) ON CONFLICT DO NOTHING`),
  )
}

/** Newest first. */
export async function auditPage(
  sql: Sql,
  { reach, filters, from, to, after, limit }: AuditPage,
): Promise<AuditEvent[]> {
  const conditions = [
    raw('true'),
    ...(reach === 'everything' ? [] : [fragment`organization_id = ANY(${reach.organizations}::text[])`]),
    ...AUDIT_FILTERS.flatMap((name) =>
      filters[name] === undefined ? [] : [fragment`${raw(name)} = ${filters[name]}`],
    ),
    ...(from === undefined ? [] : [fragment`occurred_at >= ${from}`]),
    ...(to === undefined ? [] : [fragment`occurred_at < ${to}`]),
    ...(after ? [fragment`(occurred_at, event_id) < (${after.occurred_at}, ${after.event_id})`] : []),
  ]
  const { rows } = await sql.query<AuditEvent>(
    statement(fragment`
      SELECT ${raw(AUDIT_COLUMNS.join(', '))} FROM gateway_audit_event WHERE ${join(conditions, ' AND ')}
      ORDER BY occurred_at DESC, event_id DESC LIMIT ${limit}`),
  )
  return rows
}
