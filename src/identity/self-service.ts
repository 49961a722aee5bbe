import { mistake } from '../config/accepted.ts'
import { GatewayError } from '../lib/errors.ts'
import { LIMIT_FIELDS, type LimitField } from '../limits/limited-scope.ts'
import type { TeamRecord } from '../stores/sql/records/team-records.ts'
import { ORGANIZATION_ROLES, permissionsOf, TEAM_ROLES } from './roles.ts'

const DAY_MS = 86_400_000

/** The roles in a team, or in its organization, that let a person make keys for themselves. */
export const SELF_SERVICE_ROLES = [...ORGANIZATION_ROLES, ...TEAM_ROLES].filter((role) =>
  permissionsOf(role).has('key.create_self'),
)

/** A team's rules for keys that members create for themselves. */
export type SelfServiceTeam = Pick<
  TeamRecord,
  | LimitField
  | 'budget_duration'
  | 'self_service_keys_enabled'
  | 'self_service_max_keys_per_user'
  | 'self_service_budget_ceiling'
  | 'self_service_require_expiry'
  | 'self_service_max_expiry_days'
>

/** The fields of such a key that the team restricts. */
export type SelfServiceKey = { readonly [Name in LimitField | 'max_budget']?: unknown } & {
  readonly budget_duration?: unknown
  readonly expires_at?: unknown
}

/** Refuses a key that a member may not create; `owned` is the number of live keys that they have in the team. */
export function requireSelfService(team: SelfServiceTeam, owned: number, key: SelfServiceKey, now: number): void {
  requireRoom(team, owned)
  requireBudget(team, key)
  requireEnd(team, key.expires_at, now)
  for (const name of LIMIT_FIELDS) {
    const [most, wanted] = [team[name], key[name] ?? null]
    if (most === null || wanted === null || Number(wanted) <= Number(most)) continue
    throw mistake(name, `must be at most ${most}, which is the team's own`)
  }
}

/** Refuses keys of members' own in a team that does not have them. */
export function requireEnabled({
  self_service_keys_enabled,
}: Pick<SelfServiceTeam, 'self_service_keys_enabled'>): void {
  if (self_service_keys_enabled) return
  throw new GatewayError('permission', 'Members of this team may not make their own keys.', {
    param: 'team_id',
    code: 'self_service_disabled',
  })
}

function requireRoom(
  { self_service_keys_enabled, self_service_max_keys_per_user: most }: SelfServiceTeam,
  owned: number,
) {
  requireEnabled({ self_service_keys_enabled })
  if (most === null || owned < most) return
  throw new GatewayError('permission', `A member of this team may own ${most} keys, and you own ${owned}.`, {
    param: 'team_id',
    code: 'self_service_key_limit',
  })
}

/** The ceiling applies to the period of the team's budget: a key with a shorter period could spend more. */
function requireBudget(team: SelfServiceTeam, { max_budget: budget, budget_duration: duration }: SelfServiceKey): void {
  const { self_service_budget_ceiling: ceiling, budget_duration: period } = team
  if (ceiling === null) return
  const most = Number(ceiling)
  if (budget === undefined || budget === null) throw mistake('max_budget', `is required here, and at most ${most}`)
  if (Number(budget) > most) throw mistake('max_budget', `must be at most ${most} for a key of your own in this team`)
  if (duration === undefined || duration === null || duration === period) return
  const allowed = period === null ? 'must be left out' : `must be ${period}, as the team's, or left out`
  throw mistake('budget_duration', `${allowed} for a key of your own in this team`)
}

function requireEnd(team: SelfServiceTeam, end: unknown, now: number): void {
  const { self_service_require_expiry: required, self_service_max_expiry_days: days } = team
  if (end === undefined || end === null) {
    if (required || days !== null) throw mistake('expires_at', 'is required for a key of your own in this team')
    return
  }
  if (days === null || Date.parse(String(end)) <= now + days * DAY_MS) return
  throw mistake('expires_at', `must be within ${days} days for a key of your own in this team`)
}
