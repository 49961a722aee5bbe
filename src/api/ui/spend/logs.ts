import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import type { Reach } from '../../../stores/sql/records/reach.ts'
import { CALL_FACTS } from '../../../stores/sql/spend/call-facts.ts'
import type { LoggedCall, LogPosition, LogQuery, SpendLog } from '../../../stores/sql/spend/spend-log.ts'
import { type UsualFilters, unindexed } from '../../../stores/sql/spend/usual-filters.ts'
import { ENDINGS } from '../../../telemetry/events.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import { storable } from '../../storable.ts'
import { keptFrom, keptFromAnswer, keptFromHeaders } from '../kept-from.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { exported, FILE_TYPES, FORMATS, MOST_EXPORTED, rowLimit, shownOf } from './export.ts'
import { loggedCall, loggedCallAnswer } from './logged-call.ts'
import { loggedCallStory } from './logged-call-story.ts'
import { dateOrTime, owner, spendFilters, spendReach } from './spend-query.ts'

const SHOWN = { usual: 50, most: 200 }
const PAGE = 1000
const DAY_MS = 86_400_000
const MOST_MS = DAY_MS
/** The longest range of a filter that no index serves. */
const MOST_DAYS = 31

const only = () => z.enum(['true']).optional()

const list = defineRoute(
  {
    method: 'get',
    path: '/ui/api/logs',
    summary: 'The model calls, newest first.',
    tag: 'Spend',
    auth: 'admin',
    permission: 'spend.read',
    scoped: 'own',
    query: () =>
      z.object({
        ...spendFilters(),
        owner: owner(),
        ending: z.enum(ENDINGS).optional(),
        status: z.coerce.number().int().min(100).max(599).optional(),
        request_id: storable().min(1).max(128).optional(),
        batch_id: storable().min(1).max(128).optional(),
        prompt: storable().min(1).max(256).optional().describe('The prompt that was rendered: `key@version`.'),
        error_type: storable().min(1).max(128).optional().describe('The `type` of the error that the client got.'),
        not_ending: z.enum(ENDINGS).optional().describe('All calls but these.'),
        not_error_type: storable().min(1).max(128).optional().describe('All calls but these.'),
        endpoint: storable().min(1).max(256).optional(),
        cache: z.enum(CALL_FACTS.cache.values).optional(),
        failed_over: only().describe('Calls of which an attempt failed and another one followed.'),
        refused: only().describe(
          'Calls that failed before any deployment was asked. What was refused earlier is at `/ui/api/refusals`.',
        ),
        unpriced: only().describe('Calls whose price is unknown.'),
        min_total_ms: z.coerce.number().min(0).max(MOST_MS).optional().describe('Calls that took at least so long.'),
        from: dateOrTime()
          .optional()
          .describe(
            `Needed, at most ${MOST_DAYS} days before \`to\`, with cache=miss|off, endpoint=/v1/chat/completions, min_total_ms below 10000 or a filter that leaves calls out.`,
          ),
        to: dateOrTime().optional().describe('Exclusive.'),
        cursor: paging().cursor,
        limit: rowLimit(SHOWN),
        format: z.enum(FORMATS).default('json'),
      }),
    responses: {
      200: {
        ...pageAnswer(loggedCall, 'One page, or a file with `kept_from` in the header x-gateway-kept-from.', keptFrom),
        contentType: FILE_TYPES,
      },
    },
  },
  async ({ services, caller, input }) => {
    const { cursor, format, limit, owner, ...filters } = input.query
    const reach = spendReach(caller(), owner)
    const query = {
      ...filters,
      failed_over: filters.failed_over === 'true',
      refused: filters.refused === 'true',
      unpriced: filters.unpriced === 'true',
      after: positionOf(cursor),
    }
    expectBounded(query, services.clock.now())
    const age = [services.config.general_settings.spend_log_retention_days, services.clock.now()] as const
    if (format !== 'json') {
      const pages = () => all(services.spendLog, reach, { ...query, limit: limit ?? MOST_EXPORTED })
      const file = await exported(format, 'logs', Object.keys(loggedCall().shape), pages)
      return { ...file, headers: { ...file.headers, ...keptFromHeaders(...age) } }
    }
    const shown = shownOf(limit, SHOWN)
    const rows = await services.spendLog.page(reach, { ...query, limit: shown + 1 })
    const { data, next_cursor } = pageOf(rows, shown, cursorOf)
    return json({ data: data.map(loggedCallAnswer), next_cursor, ...keptFromAnswer(...age) })
  },
)

export const logs: readonly Route[] = [list, loggedCallStory]

/** A filter that no index serves reads all calls of its range. */
function expectBounded(query: Pick<LogQuery, 'from' | 'to'> & UsualFilters, now: number): void {
  const filter = unindexed(query)
  if (filter === undefined) return
  const { from, to } = query
  const days = (to === undefined ? now : Date.parse(to)) - (from === undefined ? -Infinity : Date.parse(from))
  if (days > MOST_DAYS * DAY_MS) {
    throw mistake('from', `is needed with this ${filter}, at most ${MOST_DAYS} days before to`)
  }
}

/** The rows of a query, page after page. */
async function* all(log: SpendLog, reach: Reach, query: LogQuery): AsyncGenerator<Record<string, unknown>[]> {
  let { limit: left, after } = query
  while (left > 0) {
    const limit = Math.min(left, PAGE)
    const rows = await log.page(reach, { ...query, after, limit })
    yield rows.map(loggedCallAnswer)
    if (rows.length < limit) return
    after = positionAt(rows.at(-1))
    left -= limit
  }
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z)~(.+)$/

function cursorOf({ at, call_id }: LoggedCall): string {
  return `${at}~${call_id}`
}

function positionAt(last: LoggedCall | undefined): LogPosition | undefined {
  return last && { at: String(last.at), callId: String(last.call_id) }
}

function positionOf(cursor: string): LogPosition | undefined {
  if (cursor === '') return undefined
  const [, at, callId] = CURSOR.exec(cursor) ?? []
  if (at === undefined || callId === undefined || !dateOrTime().safeParse(at).success) {
    throw mistake('cursor', 'must be the next_cursor of the page before')
  }
  return { at, callId }
}
