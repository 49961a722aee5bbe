import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { name } from '../../../config/sections/model-list.ts'
import { recordName } from '../../../identity/caller-of.ts'
import { hasEverywhere, missingPermission, reachOf, reachWithOwn } from '../../../identity/grants.ts'
import type { Permission } from '../../../identity/permissions.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Level } from '../../../limits/limited-scope.ts'
import type { Caller } from '../../../pipeline/caller.ts'
import type { CallableGrant } from '../../../stores/sql/records/callable-binding-records.ts'
import {
  CALLABLE_KINDS,
  type CallableScope,
  type Reaches,
  SCOPE_TYPES,
  type ScopeChange,
  type ScopeType,
} from '../../../stores/sql/records/callable-scopes.ts'
import type { AuditDetails } from '../../../telemetry/audit.ts'
import type { ApiServices, Scope } from '../../scope.ts'
import { storable } from '../../storable.ts'
import { changeHolds } from '../records/record-changed.ts'
import { findFresh } from '../registry-records.ts'

interface Kind {
  readonly noun: string
  readonly level: Level
  readonly read: Permission
  readonly update: Permission
}

export const KINDS: Readonly<Record<ScopeType, Kind>> = {
  organization: { noun: 'organization', level: 'org', read: 'org.read', update: 'org.update' },
  team: { noun: 'team', level: 'team', read: 'team.read', update: 'team.update' },
  user: { noun: 'user', level: 'user', read: 'user.read', update: 'user.update' },
  api_key: { noun: 'key', level: 'key', read: 'key.read', update: 'key.update' },
}

/** The permissions of routes that serve every kind of scope: each role that may read or change scopes of any kind may do
 *  so with teams. The reach of the kind's own permission decides which scopes a caller sees. */
export const ANY_SCOPE = { read: 'team.read', update: 'team.update' } as const

export const scopeType = lazily(() => z.enum(SCOPE_TYPES).describe('The kind of scope.'))
export const scopeId = lazily(() =>
  storable().min(1).max(256).describe('The id of the organization, team, user or key.'),
)
export const callableKind = lazily(() =>
  z
    .enum(CALLABLE_KINDS)
    .describe(
      'target: a model or route group; access_group: a label, for every model that has it; mcp_server: a server of tools.',
    ),
)
/** A model need not exist yet. */
export const callableKey = name

export function reachesOf(caller: Caller, what: 'read' | 'update'): Reaches {
  const reach = (type: ScopeType) => reachOf(caller, KINDS[type][what])
  const key = what === 'read' ? reachWithOwn(caller, KINDS.api_key.read) : reach('api_key')
  return { organization: reach('organization'), team: reach('team'), user: reach('user'), api_key: key }
}

/** The refusal where no scope was found to change: 403 if the caller may read it, else the 404 of an absent one. */
export async function refusedScope(
  { services, caller, audits }: Scope,
  scope: CallableScope,
  parameter?: string,
): Promise<GatewayError> {
  const seen = await services.records.callableScopes.levels(scope, reachesOf(caller(), 'read'))
  if (!seen || hasEverywhere(caller())) return absentScope(scope, parameter)
  audits({ organization_id: seen.find(({ scope_type: type }) => type === 'organization')?.scope_id ?? null })
  return missingPermission(KINDS[scope.scope_type].update)
}

/** The refusal of a scope that does not exist or that the caller may not read. */
export function absentScope({ scope_type }: CallableScope, parameter = 'scope_id'): GatewayError {
  return new GatewayError('not_found', `There is no such ${KINDS[scope_type].noun}.`, { param: parameter })
}

/** Publishes and audits a stored change of a scope. False: other processes apply it later. */
export async function scopeChanged(
  { services, audits }: Scope,
  { scope_type, scope_id }: CallableScope,
  change: ScopeChange,
  details: Pick<AuditDetails, 'resource_id' | 'changes'>,
): Promise<boolean> {
  const record = recordName(KINDS[scope_type].level, scope_id)
  const everywhere = await changeHolds(services, { record, version: change.version })
  audits({ ...details, organization_id: change.organization_id })
  return everywhere
}

/** Refuses bindings without effect: of an alias, or of an unknown server of tools. A model may be added later. */
export async function requireBindable(
  services: ApiServices,
  field: string,
  { callable_kind: kind, callable_key: key }: Pick<CallableGrant, 'callable_kind' | 'callable_key'>,
): Promise<void> {
  if (kind === 'target') refuseBoundAlias(services, field, key)
  if (kind !== 'mcp_server') return
  const server = await findFresh(services, () => services.registry.toolServers.get(key))
  if (!server) throw mistake(field, 'is the key of no MCP server; see /ui/api/mcp-servers')
}

/** Refuses to bind an alias: calls are checked against the group that it stands for. */
export function refuseBoundAlias({ config }: ApiServices, field: string, key: string): void {
  const { model_group_alias: aliases } = config.router_settings
  if (!Object.hasOwn(aliases, key)) return
  throw mistake(field, `is an alias of router_settings.model_group_alias; bind '${aliases[key]}', which it stands for`)
}
