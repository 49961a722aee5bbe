import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { lazily } from '../../../lib/lazily.ts'
import { GROUPINGS, type Grouping, type GroupSums, type ReportRange } from '../../../stores/sql/spend/spend-reports.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import { exported, FORMATS } from './export.ts'
import { spendSums, sumsAnswer } from './spend-answer.ts'
import { dateOrTime, owner, spendFilters, spendReach } from './spend-query.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const USUAL_DAYS = 30
const MOST_DAYS = 3660
const MOST_GROUPS = 10_000

const range = () => ({
  from: dateOrTime().optional().describe('First hour; 30 days before `to` when left out.'),
  to: dateOrTime().optional().describe('The end, in whole hours; default: the end of the current day (UTC).'),
})
const rangeAnswer = () => ({ from: z.iso.datetime(), to: z.iso.datetime() })

const summary = defineRoute(
  {
    method: 'get',
    path: '/ui/api/spend/summary',
    summary: 'The spend of a period and of the one before it.',
    tag: 'Spend',
    auth: 'admin',
    permission: 'spend.read',
    scoped: 'own',
    query: () => z.object({ ...range(), ...spendFilters(), owner: owner() }),
    responses: {
      200: {
        description: 'The sums.',
        schema: () => z.object({ ...rangeAnswer(), total: spendSums(), previous: spendSums() }),
      },
    },
  },
  async ({ services, caller, input }) => {
    const { from, to, owner, ...filters } = input.query
    const asked = rangeOf(from, to, services.clock.now())
    const reach = spendReach(caller(), owner)
    const { current, previous } = await services.spendReports.totals(reach, asked, filters)
    return json({ ...asked, total: sumsAnswer(current), previous: sumsAnswer(previous) })
  },
)

const groupAnswer = lazily(() =>
  z.object({
    group: z.string().nullable().describe('An hour, a day, an id or a name; null for calls without one.'),
    group_name: z.string().nullable().describe('Its display name, if it has one.'),
    ...spendSums().shape,
  }),
)

const report = defineRoute(
  {
    method: 'get',
    path: '/ui/api/spend/report',
    summary: 'The spend by time, caller or model.',
    tag: 'Spend',
    auth: 'admin',
    permission: 'spend.read',
    scoped: 'own',
    query: () =>
      z.object({
        group_by: z.enum(Object.keys(GROUPINGS) as [Grouping, ...Grouping[]]).default('day'),
        ...range(),
        ...spendFilters(),
        owner: owner(),
        format: z.enum(FORMATS).default('json'),
        limit: z.coerce.number().int().min(1).max(MOST_GROUPS).default(1000).describe('The number of groups.'),
        cursor: z.coerce
          .number({ error: 'must be the next_cursor of the page before' })
          .int()
          .min(0)
          .max(10_000_000)
          .default(0)
          .describe('`next_cursor` of the page before.'),
      }),
    responses: {
      200: {
        description: 'By time in chronological order, otherwise the most expensive first.',
        schema: () =>
          z.object({
            ...rangeAnswer(),
            group_by: z.string(),
            data: z.array(groupAnswer()),
            next_cursor: z.string().nullable(),
          }),
      },
    },
  },
  async ({ services, caller, input }) => {
    const { from, to, group_by: by, format, limit, cursor, owner, ...filters } = input.query
    const asked = rangeOf(from, to, services.clock.now())
    const reach = spendReach(caller(), owner)
    const query = { ...filters, by, offset: cursor, limit: limit + 1 }
    const rows = await services.spendReports.grouped(reach, asked, query)
    const data = rows.slice(0, limit).map((row) => ({ ...groupOf(by, row) }))
    if (format !== 'json')
      return exported(format, 'spend', Object.keys(groupAnswer().shape), async function* () {
        yield data
      })
    return json({ ...asked, group_by: by, data, next_cursor: rows.length > limit ? String(cursor + limit) : null })
  },
)

export const spend: readonly Route[] = [summary, report]

function groupOf(
  by: Grouping,
  { group_value, group_name, ...sums }: GroupSums,
): z.output<ReturnType<typeof groupAnswer>> {
  const group = by === 'day' ? group_value.slice(0, 10) : group_value === '' ? null : group_value
  return { group, group_name, ...sumsAnswer(sums) }
}

/** Whole hours, since that is what sums are kept by. */
function rangeOf(from: string | undefined, to: string | undefined, now: number): ReportRange {
  const ends = to === undefined ? ceiling(now + 1, DAY_MS) : ceiling(Date.parse(to), HOUR_MS)
  const begins = from === undefined ? ends - USUAL_DAYS * DAY_MS : floor(Date.parse(from), HOUR_MS)
  if (begins >= ends) throw mistake('from', 'must be before to')
  if (ends - begins > MOST_DAYS * DAY_MS) throw mistake('from', `must be at most ${MOST_DAYS} days before to`)
  return { from: new Date(begins).toISOString(), to: new Date(ends).toISOString() }
}

const floor = (time: number, unit: number) => Math.floor(time / unit) * unit
const ceiling = (time: number, unit: number) => Math.ceil(time / unit) * unit
