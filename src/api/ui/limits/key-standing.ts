import { limitedScopesOf } from '../../../identity/caller-of.ts'
import { ownerOf, type Reach, reachOf } from '../../../identity/grants.ts'
import type { Level } from '../../../limits/limited-scope.ts'
import { amountsHidden, standingOf } from '../../../limits/scope-standing.ts'
import type { KeyFacts } from '../../../stores/sql/scopes/record-facts.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { keyKind } from '../records/key-kind.ts'
import { absent } from '../records/record-kind.ts'
import { visible } from '../records/record-reach.ts'
import { idOf, oneOf } from '../records/record-routes.ts'
import { KINDS_OF_SCOPES, scopeStandings } from './standing-answer.ts'

/** Every limit and budget that the next call of a key counts against, with what is used of it. */
export const keyStanding = defineRoute(
  {
    ...oneOf(keyKind),
    path: `${keyKind.path}/{key_id}/standing`,
    method: 'get',
    summary: 'How much of every limit and budget is used that a key counts against.',
    permission: keyKind.permissions.read,
    responses: { 200: { description: 'Its standing now. Nothing is counted for it.', schema: scopeStandings } },
  },
  async (scope) => {
    const { records, store, budgets, storeClock } = scope.services
    const [id, within] = [idOf(keyKind, scope), visible(scope, keyKind)]
    const [key, record] = await Promise.all([records.keys.find(id, within), records.callers.byKeyId(id)])
    if (!key || !record) throw absent(keyKind)
    const scopes = limitedScopesOf(record)
    const [facts, seesUser, standing] = await Promise.all([
      records.facts.ofKeys([key]),
      maySeeUser(scope, record.user?.user_id),
      standingOf({ store, budgets }, scopes, record.key.max_parallel_requests, storeClock.now()),
    ])
    const sees = (level: Level, ofId: string): boolean => {
      const { organization_id: organization } = record.organization ?? {}
      if (level === 'org') return lies(reachOf(scope.caller(), 'org.read'), ofId)
      if (level === 'team') return lies(reachOf(scope.caller(), 'team.read'), organization, ofId)
      return level === 'key' || seesUser
    }
    const names = namesOf(facts[0], key.key_name)
    return json({
      key_id: id,
      ...standing,
      scopes: standing.scopes.map(({ level, ...one }) => ({
        scope: KINDS_OF_SCOPES[level],
        name: names[level],
        ...(sees(level, one.id) ? one : amountsHidden(one)),
      })),
      store: store.mode(),
    })
  },
)

/** The amounts of a user are shown to those who see the user, and to the user. */
async function maySeeUser(scope: Scope, userId: string | undefined): Promise<boolean> {
  if (userId === undefined || ownerOf(scope.caller())?.userId === userId) return true
  const within = reachOf(scope.caller(), 'user.read')
  return within === 'everything' || (await scope.services.records.users.find(userId, within)) !== undefined
}

function lies(reach: Reach, organization: string | undefined, team?: string): boolean {
  if (reach === 'everything') return true
  const inOrganization = organization !== undefined && reach.organizations.includes(organization)
  return inOrganization || (team !== undefined && reach.teams.includes(team))
}

function namesOf(facts: KeyFacts | undefined, key: string | null): Readonly<Record<Level, string | null>> {
  const { organization_name: org = null, team_name: team = null, user_name: user = null } = facts ?? {}
  return { org, team, user, key }
}
