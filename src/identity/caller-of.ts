import { accountsOf } from '../limits/accounts.ts'
import type { Level, LimitedScope } from '../limits/limited-scope.ts'
import { quotasOf } from '../limits/quotas.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { CallerRecord, LimitsRecord } from '../stores/sql/records/caller-records.ts'
import { callableTargets, isRestricted, type TargetLevel, usableServers } from './callable-targets.ts'

type ScopeType = CallerRecord['bindings'][number]['scope_type']

/** The name under which the shared store holds the current version of a record. */
export const recordName = (level: Level, id: string) => `${level}:${id}` as const

const SCOPE_TYPES = {
  org: 'organization',
  team: 'team',
  user: 'user',
  key: 'api_key',
} as const satisfies Record<Level, ScopeType>

/** The scopes that limit the calls of a key, in the order in which they refuse. */
export function limitedScopesOf({ key, user, team, organization }: CallerRecord): (LimitedScope & LimitsRecord)[] {
  const scopes: (LimitedScope & LimitsRecord)[] = []
  const add = (level: Level, id: string, limits: LimitsRecord) => scopes.push({ ...limits, level, id })
  if (organization) add('org', organization.organization_id, organization)
  if (team) add('team', team.team_id, team)
  if (user) add('user', user.user_id, user)
  add('key', key.key_id, key)
  return scopes
}

/** Builds the caller of a key from its record in the database. */
export function callerOf(
  record: CallerRecord,
  options: { readonly targetDefault: 'allow' | 'deny' } & Pick<
    Caller,
    'readAt' | 'confirmedAt' | 'again' | 'confirmed'
  >,
): Caller {
  const { key, user, team, organization, bindings } = record
  const scopes = limitedScopesOf(record)
  const levels = scopes.map(
    ({ level, target_mode: mode }): TargetLevel => ({
      mode,
      bindings: bindings.filter(({ scope_type }) => scope_type === SCOPE_TYPES[level]),
    }),
  )

  const { max_parallel_requests: parallel } = key
  const versions = scopes.map(({ level, id, version }) => ({ record: recordName(level, id), version }))
  return {
    kind: 'api_key',
    keyId: key.key_id,
    userId: user?.user_id,
    teamId: team?.team_id,
    organizationId: organization?.organization_id,
    quotas: quotasOf(scopes),
    slots:
      parallel === null
        ? []
        : [{ scope: 'key_parallel_requests', subject: recordName('key', key.key_id), limit: parallel }],
    accounts: scopes.flatMap(accountsOf),
    mayCall: callableTargets(levels, options.targetDefault),
    mayUseServer: usableServers(levels, options.targetDefault),
    contentOff: key.turn_off_message_logging === true || team?.turn_off_message_logging === true,
    noLogIgnored: key.no_log_allowed === false,
    restricted: isRestricted(levels, options.targetDefault),
    versions,
    remembered: versions.map((version) => ({ ...version, remembered: true })),
    readAt: options.readAt,
    confirmedAt: options.confirmedAt,
    again: options.again,
    confirmed: options.confirmed,
  }
}
