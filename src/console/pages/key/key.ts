import type { Row } from '../../data/client.ts'
import type { Session } from '../../data/session.ts'
import { count, short } from '../../design/format.ts'

export type Key = Row<'GET /ui/api/keys'>

export const nameOf = (key: Pick<Key, 'key_name' | 'key_id'>): string => key.key_name || key.key_id

/** Whether somebody made the key for themselves, or it counts against them. */
export function isOwn(session: Session, { owner_account_id: account, user_id: user }: Key): boolean {
  if (account !== null && account === session.account_id) return true
  return user !== null && user === session.user_id
}

/** The limits that a key can have, by the names that the API has for them. */
export const LIMITS = [
  { name: 'rpm_limit', label: 'Requests per minute', unit: 'requests', short: 'req/min' },
  { name: 'rph_limit', label: 'Requests per hour', unit: 'requests', short: 'req/h' },
  { name: 'rpd_limit', label: 'Requests per day', unit: 'requests', short: 'req/day' },
  { name: 'tpm_limit', label: 'Tokens per minute', unit: 'tokens', short: 'tok/min' },
  { name: 'tpd_limit', label: 'Tokens per day', unit: 'tokens', short: 'tok/day' },
  { name: 'max_parallel_requests', label: 'Calls at once', unit: 'calls', short: 'at once' },
] as const

/** The limits that are set, in few words: `60 req/min`. */
export const limitsOf = (key: Key): readonly string[] =>
  LIMITS.flatMap(({ name, short: unit }) => {
    const limit = key[name]
    return limit === null ? [] : [`${limit < 10_000 ? count(limit) : short(limit)} ${unit}`]
  })
