import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { GroupSums, SplitSums } from '../../../stores/sql/spend/spend-reports.ts'
import { GROUPINGS, type Grouping, isTime, type ReportRange } from '../../../stores/sql/spend/spend-source.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import { exported, FILE_TYPES, FORMATS, MOST_EXPORTED, rowLimit, shownOf } from './export.ts'
import { spendSums, sumsAnswer } from './spend-answer.ts'
import { dateOrTime, owner, spendFilters, spendReach } from './spend-query.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const USUAL_DAYS = 30
const MOST_DAYS = 3660
const SHOWN = { usual: 1000, most: 10_000 }

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

const groupings = lazily(() => z.enum(Object.keys(GROUPINGS) as [Grouping, ...Grouping[]]))

const groupAnswer = lazily(() =>
  z.object({
    group: z.string().nullable().describe('An hour, a day, an id or a name; null for calls without one.'),
    group_name: z.string().nullable().describe('Its display name, if it has one.'),
    ...spendSums().shape,
  }),
)

/** The further columns of a report that is split by a second grouping. */
const splitAnswer = lazily(() =>
  z.object({
    split: z.string().nullable().describe('The value of `split_by`; null for calls without one, and for the others.'),
    split_name: z.string().nullable(),
    split_other: z.boolean().describe('All values beyond `split_top` together.'),
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
        group_by: groupings().default('day'),
        split_by: groupings().optional().describe('Each group by this, too: a row for each pair.'),
        split_top: z.coerce
          .number()
          .int()
          .min(1)
          .max(100)
          .default(10)
          .describe('How many values of `split_by` have rows of their own: the most expensive ones of the range.'),
        ...range(),
        ...spendFilters(),
        owner: owner(),
        format: z.enum(FORMATS).default('json'),
        limit: rowLimit(SHOWN),
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
            split_by: z.string().nullable(),
            data: z.array(groupAnswer().extend(splitAnswer().partial().shape)),
            next_cursor: z.string().nullable(),
          }),
        contentType: FILE_TYPES,
      },
    },
  },
  async ({ services, caller, input }) => {
    const {
      from,
      to,
      group_by: by,
      split_by: splitBy,
      split_top: top,
      format,
      limit,
      cursor,
      owner,
      ...filters
    } = input.query
    if (splitBy === by || (splitBy && isTime(splitBy) && isTime(by))) {
      throw mistake('split_by', 'must be another grouping than group_by, and only one of them a time')
    }
    const asked = rangeOf(from, to, services.clock.now())
    const reach = spendReach(caller(), owner)
    const { spendReports } = services
    const rowsOf = async (offset: number, most: number) => {
      const query = { ...filters, by, offset, limit: most }
      const rows: readonly (GroupSums | SplitSums)[] = splitBy
        ? await spendReports.split(reach, asked, { ...query, splitBy, top })
        : await spendReports.grouped(reach, asked, query)
      return rows.map((row) => groupOf(by, splitBy, row))
    }
    if (format !== 'json') {
      const splits = splitBy ? Object.keys(splitAnswer().shape) : []
      const [group = '', name = '', ...sums] = Object.keys(groupAnswer().shape)
      return exported(format, 'spend', [group, name, ...splits, ...sums], async function* () {
        const ends = cursor + (limit ?? MOST_EXPORTED)
        for (let offset = cursor; offset < ends; offset += SHOWN.most) {
          const rows = await rowsOf(offset, Math.min(SHOWN.most, ends - offset))
          yield rows
          if (rows.length < SHOWN.most) return
        }
      })
    }
    const shown = shownOf(limit, SHOWN)
    const rows = await rowsOf(cursor, shown + 1)
    const next_cursor = rows.length > shown ? String(cursor + shown) : null
    return json({ ...asked, group_by: by, split_by: splitBy ?? null, data: rows.slice(0, shown), next_cursor })
  },
)

export const spend: readonly Route[] = [summary, report]

function groupOf(by: Grouping, splitBy: Grouping | undefined, row: GroupSums | SplitSums) {
  const { group_value, group_name, ...sums } = row
  const group = { group: shownValue(by, group_value), group_name }
  if (splitBy === undefined || !('split_value' in row)) return { ...group, ...sumsAnswer(sums) }
  const { split_value: value, split_name } = row
  const split = { split: value === null ? null : shownValue(splitBy, value), split_name, split_other: value === null }
  return { ...group, ...split, ...sumsAnswer(sums) }
}

function shownValue(by: Grouping, value: string): string | null {
  return by === 'day' ? value.slice(0, 10) : value === '' ? null : value
}

/** Whole hours, because sums are stored by the hour. */
function rangeOf(from: string | undefined, to: string | undefined, now: number): ReportRange {
  const ends = to === undefined ? ceiling(now + 1, DAY_MS) : ceiling(Date.parse(to), HOUR_MS)
  const begins = from === undefined ? ends - USUAL_DAYS * DAY_MS : floor(Date.parse(from), HOUR_MS)
  if (begins >= ends) throw mistake('from', 'must be before to')
  if (ends - begins > MOST_DAYS * DAY_MS) throw mistake('from', `must be at most ${MOST_DAYS} days before to`)
  return { from: new Date(begins).toISOString(), to: new Date(ends).toISOString() }
}

const floor = (time: number, unit: number) => Math.floor(time / unit) * unit
const ceiling = (time: number, unit: number) => Math.ceil(time / unit) * unit
