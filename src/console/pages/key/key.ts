import type { Row } from '../../data/client.ts'
import type { Session } from '../../data/session.ts'
import { LIMITS } from '../../design/form/budget-and-limits.tsx'
import { count } from '../../design/format.ts'
import { short } from '../../design/rounded.ts'

export type Key = Row<'GET /ui/api/keys'>

export const nameOf = (key: Pick<Key, 'key_name' | 'key_id'>): string => key.key_name || key.key_id

/** Whether somebody made the key for themselves, or it counts against them. */
export function isOwn(session: Session, { owner_account_id: account, user_id: user }: Key): boolean {
  if (account !== null && account === session.account_id) return true
  return user !== null && user === session.user_id
}

/** What keys alone can have. */
export const PARALLEL = {
  name: 'max_parallel_requests',
  label: 'Calls at once',
  unit: 'calls',
  short: 'at once',
} as const

/** The limits that a key can have. */
export const KEY_LIMITS = [...LIMITS, PARALLEL] as const

const shown = (limit: number, unit: string) => `${limit < 10_000 ? count(limit) : short(limit)} ${unit}`

/** What holds, the tightest first, with whose limit it is where it is not the key's: `60 req/min of the team`. */
export const effectiveLimitsOf = ({
  effective_limits: all,
  max_parallel_requests: parallel,
}: Key): readonly string[] => [
  ...all.map(({ name, limit, of }) => {
    const text = shown(limit, LIMITS.find((one) => one.name === name)?.short ?? name)
    return of === 'key' ? text : `${text} of the ${of}`
  }),
  ...(parallel === null ? [] : [shown(parallel, PARALLEL.short)]),
]
