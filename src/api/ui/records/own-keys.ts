import { mistake } from '../../../config/accepted.ts'
import { missingPermission, type Owner, ownerOf } from '../../../identity/grants.ts'
import { requireEnabled, requireSelfService, SELF_SERVICE_ROLES } from '../../../identity/self-service.ts'
import type { KeyRecord } from '../../../stores/sql/records/key-records.ts'
import type { ValuesOf } from '../../../stores/sql/records/scope-records.ts'
import type { TeamRecord } from '../../../stores/sql/records/team-records.ts'
import type { Scope } from '../../scope.ts'
import { referring, unknownReference } from './record-kind.ts'
import { auditsOf, reach } from './record-reach.ts'

/** How often creation is tried again while the team changes. */
const TURNS = 5

/** Creates a key that the caller owns, within what the team allows its members. */
export async function makeOwn(scope: Scope, values: ValuesOf<KeyRecord>): Promise<KeyRecord> {
  const owner = ownerOf(scope.caller())
  if (!owner) throw mistake('owner', 'the master key owns no keys')
  const { services } = scope
  const { keys, teams } = services.records
  let team: TeamRecord | undefined = await ownTeamOf(scope, values.team_id)
  const own = ownValues(owner, team, values)
  for (let turn = 0; team && turn < TURNS; turn++) {
    requireSelfService(team, await keys.countOwn(owner, team.team_id), own, services.clock.now())
    const made = await referring(keys.createOwn({ ...owner, roles: SELF_SERVICE_ROLES }, team, own))
    if (made) return made
    team = await teams.find(team.team_id, reach(scope, 'key.create_self'))
  }
  // The caller has lost the role meanwhile.
  throw missingPermission('key.create_self')
}

/** Refuses a new secret of a key of the caller's own, unless they may have such keys in its team now. */
export async function requireOwnKeys(scope: Scope, { team_id: teamId }: KeyRecord): Promise<void> {
  const within = reach(scope, 'key.create_self')
  const team = teamId === null ? undefined : await scope.services.records.teams.find(teamId, within)
  if (!team) throw missingPermission('key.create_self')
  requireEnabled(team)
}

function ownValues(owner: Owner, team: TeamRecord, values: ValuesOf<KeyRecord>): ValuesOf<KeyRecord> {
  const { team_id: _, organization_id: organization, user_id: user, ...rest } = values
  if (typeof user === 'string' && user !== owner.userId) throw mistake('user_id', 'of a key of your own is yourself')
  if (typeof organization === 'string' && organization !== team.organization_id) {
    throw mistake('organization_id', 'is not the organization of this team')
  }
  return rest
}

/** The team in which the caller may make keys for themselves. */
async function ownTeamOf(scope: Scope, teamId: unknown): Promise<TeamRecord> {
  if (typeof teamId !== 'string') throw mistake('team_id', 'is required; name a team of yours')
  const { teams } = scope.services.records
  const team = await teams.find(teamId, reach(scope, 'key.create_self'))
  const seen = team ?? (await teams.find(teamId, reach(scope, 'team.read')))
  if (!seen) throw unknownReference('team_id')
  auditsOf(scope, seen)
  if (team) return team
  throw missingPermission('key.create_self')
}
