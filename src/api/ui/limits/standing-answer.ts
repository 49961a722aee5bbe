import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import type { Level } from '../../../limits/limited-scope.ts'

export const KINDS_OF_SCOPES = {
  org: 'organization',
  team: 'team',
  user: 'user',
  key: 'key',
} as const satisfies Record<Level, string>

const share = () => z.number().describe('The used share, from 0 to 1.')
const dollars = (what: string) => z.number().nullable().describe(`${what}, in US dollars.`)

const limitStanding = lazily(() =>
  z.object({
    name: z.string().describe('The name of its refusal, such as team_tpm.'),
    unit: z.enum(['requests', 'tokens']),
    window: z.enum(['minute', 'hour', 'day']),
    limit: z.number(),
    used: z.number(),
    left: z.number(),
    share: share(),
    resets_at: z.iso.datetime(),
  }),
)

const budgetStanding = lazily(() =>
  z.object({
    name: z.string().describe('The name of its refusal, such as key_budget.'),
    model: z.string().nullable().describe('Only calls of this model are charged; null: all.'),
    limit: dollars('The budget; null: none'),
    soft_limit: dollars('What is warned at'),
    spent: dollars('Spent in the period'),
    held: dollars('Held for calls that run'),
    left: dollars('What is left; null: there is no budget'),
    share: share().nullable().describe('The used share of a budget, with what is held; null: there is none.'),
    period_begins: z.iso.datetime().nullable().describe('null: the budget never resets.'),
    resets_at: z.iso.datetime().nullable(),
    hidden: z.boolean().describe('The caller may not see the amounts, which are null.'),
  }),
)

/** The answer about a key. */
export const scopeStandings = lazily(() =>
  z.object({
    key_id: z.string(),
    tightest: z
      .object({ name: z.string(), share: share() })
      .nullable()
      .describe('What refuses first, if calls go on like this; null: nothing limits the key.'),
    parallel: z
      .object({ name: z.string(), limit: z.number(), used: z.number(), left: z.number(), share: share() })
      .nullable()
      .describe('Calls that run now; null: their number is not limited.'),
    scopes: z
      .array(
        z.object({
          scope: z.enum(['organization', 'team', 'user', 'key']),
          id: z.string(),
          name: z.string().nullable(),
          limits: z.array(limitStanding()).describe('Only limits that are set are counted.'),
          budgets: z.array(budgetStanding()),
        }),
      )
      .describe('In the order in which they refuse.'),
    store: z
      .enum(['shared', 'local', 'degraded'])
      .describe('Whose counts these are; degraded: of this process alone, while the shared store is away.'),
  }),
)
