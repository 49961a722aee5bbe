import * as z from 'zod'
import { ownReach, type Reach, reachWithOwn } from '../../../identity/grants.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Caller } from '../../../pipeline/caller.ts'
import { storable } from '../../storable.ts'

const FIRST = Date.UTC(2000, 0)
const LAST = Date.UTC(2200, 0)

/** A date, which is its midnight in UTC, or a time with its offset; as ISO 8601 in UTC. */
export const dateOrTime = lazily(() =>
  z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], {
      error: 'must be a date or a time such as 2026-01-31T12:00:00Z',
    })
    .transform((text) => new Date(text))
    .refine((time) => time.getTime() >= FIRST && time.getTime() < LAST, 'must be a time of this century')
    .transform((time) => time.toISOString()),
)

const name = () => storable().min(1).max(1024).optional()

const other = () => name().describe('All calls but these.')

/** The filters of calls: one for every dimension of the sums. */
export const spendFilters = lazily(() => ({
  key_id: name(),
  user_id: name(),
  team_id: name(),
  organization_id: name(),
  model: name(),
  provider: name(),
  deployment: name(),
  tag: name(),
  not_key_id: other(),
  not_user_id: other(),
  not_team_id: other(),
  not_organization_id: other(),
  not_model: other(),
  not_provider: other(),
  not_deployment: other(),
}))

export const owner = () => z.enum(['me']).optional().describe("me: one's own calls alone.")

/** The calls that a caller may see: its own, and those within reach of spend.read. */
export function spendReach(caller: Caller, of: 'me' | undefined): Reach {
  return of === 'me' ? ownReach(caller) : reachWithOwn(caller, 'spend.read')
}
