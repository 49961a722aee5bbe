/** The levels whose limits a call counts against, in the order in which they refuse. */
const LEVELS = ['org', 'team', 'user', 'key'] as const
export type Level = (typeof LEVELS)[number]

/** The limit fields of every scope, in the order in which they refuse. */
export const LIMIT_FIELDS = ['rpm_limit', 'tpm_limit', 'rph_limit', 'rpd_limit', 'tpd_limit'] as const
export type LimitField = (typeof LIMIT_FIELDS)[number]

/** The limits of one scope. null is no limit; 0 blocks. Money is US dollars. */
export interface LimitedScope extends Readonly<Record<LimitField, number | null>> {
  readonly level: Level
  readonly id: string
  readonly max_budget: number | null
  readonly soft_budget: number | null
  /** `24h`, `30d`, `1mo`; with null the budget never resets. */
  readonly budget_duration: string | null
  /** The begin of the first period, in ISO 8601. */
  readonly budget_started_at: string
  /** Budgets by model name; only keys and teams have any. */
  readonly model_max_budget?: Readonly<Record<string, number>>
}
