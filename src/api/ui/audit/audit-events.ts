import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { reachOf } from '../../../identity/grants.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import {
  AUDIT_COLUMNS,
  AUDIT_FILTERS,
  type AuditEvent,
  auditPage,
  type NamedEvent,
} from '../../../stores/sql/records/audit-records.ts'
import { json, text } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import { storable } from '../../storable.ts'
import { keptFrom, keptFromAnswer, keptFromHeaders } from '../kept-from.ts'
import { moment } from '../moment.ts'
import { pageAnswer, pageOf } from '../page.ts'
import { type ExportFormat, FILE_TYPES, FORMATS, fileFormat } from '../spend/export.ts'

const answer = lazily(() =>
  z.object({
    event_id: z.string(),
    occurred_at: z.iso.datetime(),
    actor_type: z.string(),
    actor_id: z.string().nullable(),
    actor_name: z.string().nullable().describe('The address of an account or the name of a key, as it is now.'),
    organization_id: z.string().nullable(),
    action: z.string(),
    resource_type: z.string(),
    resource_id: z.string().nullable(),
    resource_name: z.string().nullable().describe('What people call a key, team, organization, user or account now.'),
    request_id: z.string(),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    status: z.int().describe('Of the HTTP answer.'),
    changes: z.record(z.string(), z.object({ old: z.unknown(), new: z.unknown() })),
    metadata: z.record(z.string(), z.unknown()),
  }),
)

const filter = () => storable().max(512).optional()
const filters = () =>
  Object.fromEntries(AUDIT_FILTERS.map((name) => [name, filter()])) as Record<
    (typeof AUDIT_FILTERS)[number],
    ReturnType<typeof filter>
  >

const list = defineRoute(
  {
    method: 'get',
    path: '/ui/api/audit/events',
    summary: 'Administrative changes and attempts, newest first, as JSON or exported as jsonl or csv.',
    tag: 'Audit',
    auth: 'admin',
    permission: 'audit.read',
    scoped: true,
    query: () =>
      z.object({
        ...filters(),
        action: storable()
          .max(2048)
          .optional()
          .describe('The action, such as key.create; of several, any: key.create,key.update.'),
        status: z
          .union([z.enum(['ok', 'refused']), z.coerce.number().int().min(100).max(599)])
          .optional()
          .describe('The status of the answer; ok: below 400, refused: from 400 on.'),
        from: moment().optional().describe('From this moment on, in ISO 8601.'),
        to: moment().optional().describe('Before this moment.'),
        cursor: storable().max(1024).default('').describe('`next_cursor`, or the header of an export.'),
        limit: z.coerce.number().int().min(1).max(1000).default(50),
        format: z.enum(FORMATS).default('json'),
      }),
    responses: {
      200: {
        ...pageAnswer(
          answer,
          'One page. An export has its next cursor in the header x-gateway-next-cursor, and `kept_from` in x-gateway-kept-from.',
          keptFrom,
        ),
        contentType: FILE_TYPES,
      },
    },
  },
  async ({ services, caller, input: { query } }) => {
    const { from, to, cursor, limit, format, action, status, ...filters } = query
    const [actions, statuses] = [action?.split(',').filter(Boolean), statusesOf(status)]
    const after = cursor === '' ? undefined : readCursor(cursor)
    const page = {
      reach: reachOf(caller(), 'audit.read'),
      filters,
      actions,
      statuses,
      from,
      to,
      after,
      limit: limit + 1,
    }
    const found = await auditPage(services.sql, page)
    const events = pageOf(found, limit, ({ occurred_at, event_id }) => `${occurred_at}_${event_id}`)
    const age = [services.config.general_settings.audit_retention_days, services.clock.now()] as const
    if (format === 'json') return json({ ...events, ...keptFromAnswer(...age) })
    const file = exported(format, events.data, events.next_cursor)
    return { ...file, headers: { ...file.headers, ...keptFromHeaders(...age) } }
  },
)

export const auditEvents: readonly Route[] = [list]

/** A page as a file: whoever wants the next one finds its cursor in a header. */
function exported(format: ExportFormat, events: readonly NamedEvent[], cursor: string | null): Answer {
  const { contentType, head, line } = fileFormat(format, [...AUDIT_COLUMNS, 'actor_name', 'resource_name'])
  const { headers, ...file } = text(head + events.map((event) => line({ ...event })).join(''), contentType)
  return { ...file, headers: cursor === null ? headers : { ...headers, 'x-gateway-next-cursor': cursor } }
}

function statusesOf(status: 'ok' | 'refused' | number | undefined) {
  if (status === undefined) return undefined
  if (typeof status === 'number') return { from: status, to: status }
  return status === 'ok' ? { from: 100, to: 399 } : { from: 400, to: 599 }
}

function readCursor(cursor: string): Pick<AuditEvent, 'occurred_at' | 'event_id'> {
  const at = cursor.indexOf('_')
  const occurredAt = moment().safeParse(cursor.slice(0, at))
  if (at === -1 || !occurredAt.success) throw mistake('cursor', 'is not one of this list')
  return { occurred_at: occurredAt.data, event_id: cursor.slice(at + 1) }
}
