import type { Row } from '../../data/client.ts'
import { LIMITS } from '../../design/form/budget-and-limits.tsx'
import { budget, count } from '../../design/format.ts'
import { period } from '../../design/time-words.ts'
import type { Key } from '../key/key.ts'

export type Team = Row<'GET /ui/api/teams'>

const ENDED = new Set<Key['state']>(['revoked', 'expired'])

export const isLive = (key: Key): boolean => !ENDED.has(key.state)

/** How many keys one may still make in a team; null: as many as one likes. */
export function keysLeft(team: Team, keys: readonly Key[]): number | null {
  const most = team.self_service_max_keys_per_user
  return most === null ? null : Math.max(0, most - keys.filter(isLive).length)
}

/** What a team asks of its members' own keys, each as a part of a sentence. */
export function rulesOf(team: Team): readonly string[] {
  const { self_service_budget_ceiling: ceiling, self_service_max_expiry_days: days } = team
  return [
    ceiling === null
      ? ''
      : `each spends at most ${budget(ceiling)}${team.budget_duration ? ` in ${period(team.budget_duration)}` : ' in all'}`,
    days !== null ? `each ends within ${days} days` : team.self_service_require_expiry ? 'each has an end' : '',
  ].filter(Boolean)
}

/** The team's own limits, which its members' keys share. */
export const sharedLimits = (team: Team): readonly string[] =>
  LIMITS.flatMap(({ name, short }) => {
    const most = team[name]
    return most === null ? [] : [`${count(most)} ${short}`]
  })
