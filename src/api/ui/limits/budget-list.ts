import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { reachOf, reachWithOwn } from '../../../identity/grants.ts'
import { lazily } from '../../../lib/lazily.ts'
import { dollarsOf } from '../../../lib/money.ts'
import { budgetPeriod, readBudgetDuration } from '../../../limits/budget-period.ts'
import { BUDGET_SCOPES, type BudgetPosition, type UsedBudget } from '../../../stores/sql/scopes/used-budgets.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { storable } from '../../storable.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'

const answer = lazily(() =>
  z.object({
    scope: z.enum(BUDGET_SCOPES),
    id: z.string(),
    name: z.string().nullable(),
    team_id: z.string().nullable(),
    organization_id: z.string().nullable(),
    max_budget: z.number().describe('In US dollars.'),
    soft_budget: z.number().nullable(),
    budget_duration: z.string().nullable(),
    spend: z.number().describe('Spent in the current period, in US dollars.'),
    share: z.number().describe('Of the budget; more than 1 where the last call cost more than was left.'),
    resets_at: z.iso.datetime().nullable().describe('null: the budget never resets.'),
  }),
)

export const budgetList = defineRoute(
  {
    method: 'get',
    path: '/ui/api/budgets',
    summary: 'The budgets of organizations, teams, users and live keys of which much is used, the fullest first.',
    tag: 'Spend',
    auth: 'admin',
    permission: ['org.read', 'team.read', 'user.read', 'key.read'],
    scoped: 'own',
    query: () =>
      z.object({
        above: z.coerce.number().min(0).max(1000).default(0.8).describe('Only budgets of which this share is used.'),
        organization_id: storable()
          .max(256)
          .optional()
          .describe('Only the budgets of this organization and of its teams, members and keys.'),
        team_id: storable().max(256).optional().describe('Only the budgets of this team and of its members and keys.'),
        ...paging(),
      }),
    responses: { 200: pageAnswer(answer) },
  },
  async ({ services, caller, input: { query } }) => {
    const { above, organization_id: organization, team_id: team, cursor, limit } = query
    const reaches = {
      organization: reachOf(caller(), 'org.read'),
      team: reachOf(caller(), 'team.read'),
      user: reachOf(caller(), 'user.read'),
      key: reachWithOwn(caller(), 'key.read'),
    }
    const rows = await services.records.usedBudgets.page(reaches, {
      above,
      places: [
        ...(organization === undefined ? [] : [{ organizations: [organization], teams: [] }]),
        ...(team === undefined ? [] : [{ organizations: [], teams: [team] }]),
      ],
      after: positionAt(cursor),
      limit: limit + 1,
    })
    const { data, next_cursor } = pageOf(rows, limit, ({ share, scope, id }) => `${share} ${scope} ${id}`)
    return json({ data: data.map((row) => shown(row, services.storeClock.now())), next_cursor })
  },
)

function shown(row: UsedBudget, now: number): z.output<ReturnType<typeof answer>> {
  const { max_budget, soft_budget, spent_nano, share, budget_started_at, ...rest } = row
  const duration = row.budget_duration === null ? undefined : readBudgetDuration(row.budget_duration)
  const ends = duration && budgetPeriod(duration, Date.parse(budget_started_at), now).ends
  return {
    ...rest,
    max_budget: Number(max_budget),
    soft_budget: soft_budget === null ? null : Number(soft_budget),
    spend: dollarsOf(spent_nano),
    share: Number(share),
    resets_at: ends === undefined ? null : new Date(ends).toISOString(),
  }
}

function positionAt(cursor: string): BudgetPosition | undefined {
  if (cursor === '') return undefined
  const [, share, scope, id] = /^(\d{1,20}(?:\.\d{1,9})?) (\w+) (\S+)$/.exec(cursor) ?? []
  const known = BUDGET_SCOPES.find((one) => one === scope)
  if (share === undefined || known === undefined || id === undefined) {
    throw mistake('cursor', 'is not the next_cursor of a page of this list')
  }
  return { share, scope: known, id }
}
