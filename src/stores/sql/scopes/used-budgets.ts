import { type RawBuilder, sql } from 'kysely'
import { rowsOf } from '../query.ts'
import { withinKey } from '../records/key-records.ts'
import { withinOrganization } from '../records/organization-records.ts'
import type { Reach } from '../records/reach.ts'
import { reachable, type Within } from '../records/scope-records.ts'
import { withinTeam } from '../records/team-records.ts'
import { withinUser } from '../records/user-records.ts'
import type { Sql } from '../sql.ts'
import { currentSpend } from './current-spend.ts'

export const BUDGET_SCOPES = ['organization', 'team', 'user', 'key'] as const
export type BudgetScope = (typeof BUDGET_SCOPES)[number]

export interface UsedBudget {
  readonly scope: BudgetScope
  readonly id: string
  readonly name: string | null
  readonly team_id: string | null
  readonly organization_id: string | null
  readonly max_budget: string
  readonly soft_budget: string | null
  readonly budget_duration: string | null
  readonly budget_started_at: string
  readonly spent_nano: string
  /** Of `max_budget`; a number as text. */
  readonly share: string
}

export interface BudgetPosition extends Pick<UsedBudget, 'share' | 'scope' | 'id'> {}

/** The budgets of organizations, teams, users and live keys of which much is used, the fullest first. */
export interface UsedBudgets {
  page(
    reaches: Readonly<Record<BudgetScope, Reach>>,
    query: {
      readonly above: number
      /** Only budgets in each of these places. */
      readonly places: readonly Reach[]
      readonly after?: BudgetPosition | undefined
      readonly limit: number
    },
  ): Promise<UsedBudget[]>
}

interface Part {
  readonly level: string
  readonly table: RawBuilder<unknown>
  readonly id: string
  readonly name: RawBuilder<unknown>
  readonly places: RawBuilder<unknown>
  readonly within: Within
  readonly live?: RawBuilder<unknown>
}

const PARTS: Readonly<Record<BudgetScope, Part>> = {
  organization: {
    level: 'org',
    table: sql`gateway_organization`,
    id: 'organization_id',
    name: sql`record.organization_name`,
    places: sql`NULL::text AS team_id, record.organization_id`,
    within: withinOrganization,
  },
  team: {
    level: 'team',
    table: sql`gateway_team`,
    id: 'team_id',
    name: sql`record.team_name`,
    places: sql`record.team_id, record.organization_id`,
    within: withinTeam,
  },
  user: {
    level: 'user',
    table: sql`gateway_user`,
    id: 'user_id',
    name: sql`coalesce(record.user_name, record.user_email)`,
    places: sql`NULL::text AS team_id, NULL::text AS organization_id`,
    within: withinUser,
  },
  key: {
    level: 'key',
    table: sql`gateway_key`,
    id: 'key_id',
    name: sql`record.key_name`,
    places: sql`record.team_id, record.organization_id`,
    within: withinKey,
    live: sql`record.revoked_at IS NULL AND (record.expires_at IS NULL OR record.expires_at > now())`,
  },
}

export function usedBudgets(database: Sql): UsedBudgets {
  return {
    page(reaches, { above, places, after, limit }) {
      const parts = BUDGET_SCOPES.flatMap((scope) => budgetsOf(scope, [reaches[scope], ...places], above))
      const behind = after
        ? sql`AND (share, scope, id) < (${after.share}::numeric, ${after.scope}, ${after.id})`
        : sql``
      return rowsOf(
        database,
        sql<UsedBudget>`
          SELECT *, share::text AS share FROM (${sql.join(parts, sql` UNION ALL `)}) AS budget
          WHERE share >= ${above} ${behind} ORDER BY budget.share DESC, scope DESC, id DESC LIMIT ${limit}`,
      )
    },
  }
}

function budgetsOf(scope: BudgetScope, reaches: readonly Reach[], above: number): RawBuilder<unknown>[] {
  const { level, table, id, name, places, within, live = sql`true` } = PARTS[scope]
  const { joined, holds, none } = currentSpend(level, id)
  const inReach = sql.join(
    reaches.map((reach) => reachable(reach, within)),
    sql` AND `,
  )
  const budget = (nano: RawBuilder<unknown>, joins: RawBuilder<unknown>, condition: RawBuilder<unknown>) => sql`
    SELECT ${sql.lit(scope)} COLLATE "C" AS scope, ${sql.id('record', id)} AS id, ${name} AS name, ${places},
      record.max_budget, record.soft_budget, record.budget_duration, record.budget_started_at,
      ${nano} AS spent_nano, round(${nano} / (record.max_budget * 1000000000), 9) AS share
    FROM ${table} AS record ${joins}
    WHERE record.max_budget > 0 AND ${live} AND ${inReach} AND ${condition}`
  // What is compared exactly is rounded: whoever is near enough is compared once more.
  const near = sql`budget.spent_nano >= record.max_budget * 1000000000 * (${above}::numeric - 0.000000001)`
  return [
    budget(sql`budget.spent_nano`, joined, sql`${near} AND ${holds}`),
    ...(above > 0 ? [] : [budget(sql`0::numeric`, sql``, none)]),
  ]
}
