import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { parseList } from '../../../lib/json/lenient.ts'
import { lazily } from '../../../lib/lazily.ts'
import {
  REFUSAL_DIMENSIONS,
  type RefusalDimension,
  type RefusalPosition,
  type RefusalRow,
} from '../../../stores/sql/spend/refusal-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import { isStorable, storable } from '../../storable.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { callerNames } from './logged-call.ts'
import { dateOrTime, owner, spendReach } from './spend-query.ts'

const refusal = lazily(() =>
  z.object({
    minute: z.iso.datetime(),
    key_id: z
      .string()
      .nullable()
      .describe('null, as all of the caller, where too many kinds were refused in a minute.'),
    team_id: z.string().nullable(),
    organization_id: z.string().nullable(),
    user_id: z.string().nullable(),
    endpoint: z.string(),
    code: z.string().describe('The `code` of the error, or its kind.'),
    scope: z.string().nullable().describe('The limit or budget, such as `team_rpm`.'),
    calls: z.int(),
    ...callerNames(),
  }),
)

const filter = () => storable().min(1).max(256).optional()

const list = defineRoute(
  {
    method: 'get',
    path: '/ui/api/refusals',
    summary: 'How many model calls were refused before they began, by minute, newest first.',
    tag: 'Spend',
    auth: 'admin',
    permission: 'spend.read',
    scoped: 'own',
    query: () =>
      z.object({
        ...(Object.fromEntries(REFUSAL_DIMENSIONS.map((name) => [name, filter()])) as Record<
          RefusalDimension,
          ReturnType<typeof filter>
        >),
        owner: owner(),
        from: dateOrTime().optional(),
        to: dateOrTime().optional().describe('Exclusive.'),
        ...paging(),
      }),
    responses: { 200: pageAnswer(refusal) },
  },
  async ({ services, caller, input }) => {
    const { cursor, limit, owner, ...filters } = input.query
    const reach = spendReach(caller(), owner)
    const query = { ...filters, after: positionOf(cursor), limit: limit + 1 }
    const rows = await services.records.refusals.page(reach, query)
    const { data, next_cursor } = pageOf(rows, limit, cursorOf)
    return json({ data: data.map(refusalAnswer), next_cursor })
  },
)

export const refusals: readonly Route[] = [list]

function refusalAnswer({ calls, ...row }: RefusalRow): z.output<ReturnType<typeof refusal>> {
  const ids = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === '' ? null : value]))
  return { ...ids, calls: Number(calls) } as z.output<ReturnType<typeof refusal>>
}

const KEYS = ['minute', ...REFUSAL_DIMENSIONS] as const

const cursorOf = (last: RefusalRow) => JSON.stringify(KEYS.map((name) => last[name]))

function positionOf(cursor: string): RefusalPosition | undefined {
  if (cursor === '') return undefined
  const values = parseList(cursor)
  const isPosition =
    values.length === KEYS.length && values.every((value) => typeof value === 'string' && isStorable(value))
  if (!isPosition || !dateOrTime().safeParse(values[0]).success) {
    throw mistake('cursor', 'must be the next_cursor of the page before')
  }
  return Object.fromEntries(KEYS.map((name, index) => [name, values[index]])) as RefusalPosition
}
