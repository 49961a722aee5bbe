import * as z from 'zod'
import { accepted, mistake } from '../../../config/accepted.ts'
import { checked, section } from '../../../config/fields.ts'
import { ownReach, type Reach } from '../../../identity/grants.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { lazily } from '../../../lib/lazily.ts'
import { newApiKey } from '../../../lib/token.ts'
import { budgetPeriod, readBudgetDuration } from '../../../limits/budget-period.ts'
import type { KeyRecord } from '../../../stores/sql/records/key-records.ts'
import type { ValuesOf } from '../../../stores/sql/records/scope-records.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { keyKind } from './key-kind.ts'
import { makeOwn, requireOwnKeys } from './own-keys.ts'
import { changeAnswers } from './record-changed.ts'
import { type Fields, optional } from './record-fields.ts'
import { columnsOf, referring, unknownReference } from './record-kind.ts'
import { reach, reachOfOwner, refused } from './record-reach.ts'
import {
  changed,
  changeRoute,
  chosenId,
  getRoute,
  idOf,
  listRoute,
  oneOf,
  removeRoute,
  takenId,
} from './record-routes.ts'

const kind = keyKind

const withKey = lazily(() =>
  kind.answer().extend({ key: z.string().describe('The key itself. It is never shown again.') }),
)

const creation = lazily(() =>
  section({
    ...kind.settled(),
    ...kind.fields(),
    duration: optional(
      checked((text) => (readBudgetDuration(text) ? undefined : 'must be a length of time such as 24h or 30d')),
    ).describe('Its lifetime, instead of `expires_at`: 24h, 30d, 1mo.'),
    owner: optional(z.enum(['me'])).describe(
      "me: it is the caller's own, as the team allows its members. Who may make no other keys there need not say so.",
    ),
  }),
)

const create = defineRoute(
  {
    method: 'post',
    path: kind.path,
    summary: 'Creates a key. Only this answer shows it.',
    tag: 'Identity',
    auth: 'admin',
    permission: ['key.update', 'key.create_self'],
    scoped: true,
    json: () => creation().optional(),
    responses: changeAnswers(201, { description: 'The key.', schema: withKey }),
  },
  async (scope) => {
    const { services } = scope
    const { duration, owner, ...given }: Fields = accepted(creation(), scope.input.json ?? {})
    const values = columnsOf(kind, { ...given, ...lifeOf(duration, given.expires_at, services.clock.now()) })
    const key = newApiKey()
    const hash = services.hashKey(key)
    const within = owner === 'me' ? ownReach(scope.caller()) : reach(scope, kind.permissions.create)
    const id = chosenId(kind, within, given) ?? newId('key', '-')
    const named = columnsOf(kind, { ...values, key_id: id, key_hash: hash })
    const row = await (owner === 'me' ? makeOwn(scope, named) : make(scope, named))
    const aftermath = { status: 201, written: values, newHashes: [hash], shownOnce: { key } }
    return changed(scope, kind, { record: row, before: {} }, aftermath)
  },
)

/** Creates a key as requested where the caller administers keys, and elsewhere one of the caller's own, if the team
 *  allows it. */
async function make(scope: Scope, values: ValuesOf<KeyRecord>): Promise<KeyRecord> {
  const { services } = scope
  const { keys, teams } = services.records
  const { team_id: team } = values
  const within = reach(scope, kind.permissions.create)
  if (within !== 'everything') {
    requireHome(within.organizations, values)
    if (typeof team === 'string' && !(await teams.find(team, within))) return makeOwn(scope, values)
    await kind.mayRefer?.(services, within, values)
  }
  const row = await referring(keys.createIn(within, values))
  if (row) return row
  if (await keys.find(String(values.key_id), 'everything')) throw takenId(kind)
  const present = await teams.find(String(team), within)
  throw present ? mistake('organization_id', 'is not the organization of this team') : unknownReference('team_id')
}

const regenerate = defineRoute(
  {
    ...oneOf(kind),
    path: `${kind.path}/{key_id}/regenerate`,
    method: 'post',
    action: 'key.regenerate',
    summary: 'Replaces the secret of a key, which only this answer shows. The old one ends at once.',
    permission: kind.permissions.update,
    responses: changeAnswers(200, { description: 'The key.', schema: withKey }),
  },
  async (scope) => {
    const { records, hashKey } = scope.services
    const { update } = kind.permissions
    const id = idOf(kind, scope)
    const within = await reachOfSecret(scope, id)
    const key = newApiKey()
    const hash = hashKey(key)
    const change = await records.keys.regenerate(id, within, hash)
    if (change) return changed(scope, kind, change, { newHashes: [hash], shownOnce: { key } })
    if (!(await records.keys.find(id, within))) throw await refused(scope, kind, id, update)
    throw new GatewayError('conflict', 'This key was revoked. Make another one.', {
      param: 'key_id',
      code: 'key_revoked',
    })
  },
)

/** Where the caller may replace the secret of a key: that of who administers it, else that of its owner. */
async function reachOfSecret(scope: Scope, id: string): Promise<Reach> {
  const { keys } = scope.services.records
  const within = reach(scope, kind.permissions.update)
  if (within === 'everything' || (await keys.find(id, within))) return within
  const own = ownReach(scope.caller())
  const key = await keys.find(id, own)
  if (key) await requireOwnKeys(scope, key)
  return own
}

const revoke = defineRoute(
  {
    ...oneOf(kind),
    path: `${kind.path}/{key_id}/revoke`,
    method: 'post',
    action: 'key.revoke',
    summary: 'Revokes a key irrevocably, from the next request on. Its record stays.',
    permission: 'key.revoke',
    responses: changeAnswers(200, { description: 'The key.', schema: kind.answer }),
  },
  async (scope) => {
    const id = idOf(kind, scope)
    const change = await scope.services.records.keys.revoke(id, reachOfOwner(scope, kind, 'key.revoke'))
    if (!change) throw await refused(scope, kind, id, 'key.revoke')
    return changed(scope, kind, change, { written: { revoked_at: true } })
  },
)

export const keys: readonly Route[] = [
  listRoute(kind),
  create,
  getRoute(kind),
  changeRoute(kind, 'patch'),
  changeRoute(kind, 'put'),
  removeRoute(kind, 'Removes a key and its record.'),
  regenerate,
  revoke,
]

const NO_MOMENT = Date.UTC(10_000, 0)

function lifeOf(duration: unknown, expiresAt: unknown, now: number): Fields {
  const read = typeof duration === 'string' ? readBudgetDuration(duration) : undefined
  if (!read) return {}
  if (expiresAt !== undefined && expiresAt !== null) {
    throw mistake('duration', 'says the same as expires_at; send one of them')
  }
  const { ends } = budgetPeriod(read, now, now)
  // The end of very many years is NaN.
  if (!(ends < NO_MOMENT)) throw mistake('duration', 'ends after the year 9999, which is the last')
  return { expires_at: new Date(ends).toISOString() }
}

/** A key outside of teams belongs to an organization, unless its maker reaches everything. */
function requireHome(organizations: readonly string[], { team_id: team, organization_id: organization }: Fields): void {
  if (typeof team === 'string') return
  if (typeof organization === 'string' && organizations.includes(organization)) return
  throw mistake('team_id', 'is required; name a team of yours')
}
