import { isFilled } from '../backfill.ts'
import { type Fragment, fragment, raw, statement } from '../fragment.ts'
import type { Reach } from '../records/reach.ts'
import type { Sql } from '../sql.ts'
import { all, equal, type SpendFilters, withinReach } from './spend-filters.ts'
import { SPEND_DIMENSIONS, SPEND_SUMS, type SpendSum } from './spend-sums.ts'

/** By what calls can be summed up: the column, and where the names of its values stand. */
export const GROUPINGS = {
  hour: { column: 'bucket_of', names: undefined },
  day: { column: 'bucket_of', names: undefined },
  model: { column: 'model', names: undefined },
  provider: { column: 'provider', names: undefined },
  deployment: { column: 'deployment', names: undefined },
  user: { column: 'user_id', names: ['gateway_user', 'user_id', 'coalesce(user_name, user_email)'] },
  team: { column: 'team_id', names: ['gateway_team', 'team_id', 'team_name'] },
  organization: { column: 'organization_id', names: ['gateway_organization', 'organization_id', 'organization_name'] },
  key: { column: 'key_id', names: ['gateway_key', 'key_id', 'key_name'] },
  tag: { column: 'tag', names: undefined },
} as const
export type Grouping = keyof typeof GROUPINGS

/** Sums as they are read: int8 and numeric are text. */
export type Sums = Readonly<Record<SpendSum, string | number>>
export interface GroupSums extends Sums {
  readonly group_value: string
  readonly group_name: string | null
}

export interface ReportRange {
  /** Inclusive; the beginning of an hour, in ISO 8601. */
  readonly from: string
  /** Exclusive; the beginning of an hour. */
  readonly to: string
}

/** Sums of the ledger. They are read from the rollups, so that their cost does not grow with the number of calls. */
export interface SpendReports {
  /** Everything in the range, and in the range of the same length before it. */
  totals(reach: Reach, range: ReportRange, filters: SpendFilters): Promise<{ current: Sums; previous: Sums }>
  /** By time in its order, by anything else the dearest first. */
  grouped(
    reach: Reach,
    range: ReportRange,
    query: SpendFilters & { readonly by: Grouping; readonly offset: number; readonly limit: number },
  ): Promise<GroupSums[]>
}

const NAMES = Object.keys(SPEND_SUMS) as SpendSum[]
const TOTALS = raw(NAMES.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(', '))
const DAY_MS = 86_400_000

export function spendReports(sql: Sql): SpendReports {
  let filled = false
  /** Until the totals have everything, reports are made of the sums that always had. */
  async function hasTotals(): Promise<boolean> {
    filled ||= await isFilled(sql, 'gateway_spend_total')
    return filled
  }

  return {
    async totals(reach, range, filters) {
      const { from, to } = range
      const short = await hasTotals()
      const length = Date.parse(to) - Date.parse(from)
      const before = { from: new Date(Date.parse(from) - length).toISOString(), to: from }
      const total = (within: ReportRange) =>
        statement(fragment`SELECT ${TOTALS} FROM ${source(short, reach, within, filters, 'all')}`)
      const [current, previous] = await sql.batch([total(range), total(before)])
      return { current: current?.rows[0] as unknown as Sums, previous: previous?.rows[0] as unknown as Sums }
    },

    async grouped(reach, range, { by, offset, limit, ...filters }) {
      const { column, names } = GROUPINGS[by]
      const inTime = column === 'bucket_of'
      const short = await hasTotals()
      const text = fragment`
        WITH sums AS (
          SELECT ${raw(column)} AS group_value, ${TOTALS}
          FROM ${source(short, reach, range, filters, by)}
          GROUP BY ${raw(column)}
          ORDER BY ${raw(inTime ? 'group_value' : 'cost_nano DESC, calls DESC, group_value')}
          LIMIT ${limit} OFFSET ${offset}
        )
        SELECT sums.*, ${raw(names ? names[2] : 'NULL::text')} AS group_name
        FROM sums ${raw(names ? `LEFT JOIN ${names[0]} ON ${names[1]} = group_value` : '')}
        ORDER BY ${raw(inTime ? 'group_value' : 'cost_nano DESC, calls DESC, group_value')}`
      return (await sql.query<GroupSums>(statement(text))).rows
    },
  }
}

/** The fewest sums that hold the range exactly. `short`: whether the sums of one dimension do. */
function source(
  short: boolean,
  reach: Reach,
  { from, to }: ReportRange,
  filters: SpendFilters,
  by: Grouping | 'all',
): Fragment {
  const wholeDays = by !== 'hour' && [from, to].every((time) => Date.parse(time) % DAY_MS === 0)
  // A day that is asked for by its hours.
  const bucket = by === 'day' && !wholeDays ? raw("date_trunc('day', bucket, 'UTC')") : raw('bucket')
  const { columns, table, wanted } = (short && alone(by, filters, reach)) || together(by, filters, reach)
  return fragment`(
    SELECT *, ${columns}${bucket} AS bucket_of FROM ${raw(table)}
    WHERE grain = ${wholeDays ? 'day' : 'hour'} AND bucket >= ${from}::timestamptz AND bucket < ${to}::timestamptz
      AND ${wanted}
  ) AS counted`
}

interface Source {
  /** What stands before the others, each with its comma. */
  readonly columns: Fragment
  readonly table: string
  readonly wanted: Fragment
}

/** The sums of one dimension, where only one is asked about. */
function alone(by: Grouping | 'all', filters: SpendFilters, reach: Reach): Source | undefined {
  if (reach !== 'everything') return undefined
  const column = by === 'all' || GROUPINGS[by].column === 'bucket_of' ? undefined : GROUPINGS[by].column
  const [first, ...others] = Object.entries(filters).filter(([, value]) => value !== undefined)
  if (others.length > 0 || (first && column !== undefined)) return undefined
  const [dimension, value] = first ?? [column ?? 'all', undefined]
  return {
    columns: column === undefined ? raw('') : raw(`value AS ${column}, `),
    table: 'gateway_spend_total',
    wanted:
      value === undefined
        ? fragment`dimension = ${dimension}`
        : fragment`dimension = ${dimension} AND value = ${value}`,
  }
}

function together(by: Grouping | 'all', filters: SpendFilters, reach: Reach): Source {
  return {
    columns: raw(''),
    table: by === 'tag' || filters.tag !== undefined ? 'gateway_spend_tag_rollup' : 'gateway_spend_rollup',
    wanted: all([
      ...SPEND_DIMENSIONS.map((dimension) => equal(dimension, filters[dimension])),
      equal('tag', filters.tag),
      withinReach(reach),
    ]),
  }
}
