import { type RawBuilder, sql } from 'kysely'
import { withinKey } from './key-records.ts'
import { withinOrganization } from './organization-records.ts'
import type { Reach } from './reach.ts'
import { NEXT_VERSION, reachable, type Within } from './scope-records.ts'
import { withinTeam } from './team-records.ts'
import { withinUser } from './user-records.ts'

/** The kinds of scope that limit callable targets, outermost first. */
export const SCOPE_TYPES = ['organization', 'team', 'user', 'api_key'] as const
export type ScopeType = (typeof SCOPE_TYPES)[number]

/** The kinds of bindings: a model or route group by its name; every model with a label; a server of tools by its key. */
export const CALLABLE_KINDS = ['target', 'access_group', 'mcp_server'] as const
export type CallableKind = (typeof CALLABLE_KINDS)[number]

export interface CallableScope {
  readonly scope_type: ScopeType
  readonly scope_id: string
}

/** A caller's reach for each kind of scope. */
export type Reaches = Readonly<Record<ScopeType, Reach>>

/** How a scope applies its bindings. */
export type TargetMode = 'inherit' | 'restrict' | null

interface ScopeTable {
  readonly table: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  /** Its organization, by its row. */
  readonly organization: RawBuilder<unknown>
  readonly within: Within
}

const OWN_ORGANIZATION = sql.ref('record.organization_id')

export const SCOPE_TABLES: Readonly<Record<ScopeType, ScopeTable>> = {
  organization: {
    table: sql.table('gateway_organization'),
    id: sql.id('organization_id'),
    organization: OWN_ORGANIZATION,
    within: withinOrganization,
  },
  team: { table: sql.table('gateway_team'), id: sql.id('team_id'), organization: OWN_ORGANIZATION, within: withinTeam },
  user: { table: sql.table('gateway_user'), id: sql.id('user_id'), organization: sql`NULL`, within: withinUser },
  api_key: {
    table: sql.table('gateway_key'),
    id: sql.id('key_id'),
    organization: OWN_ORGANIZATION,
    within: withinKey,
  },
}

/** `gateway_team AS record WHERE …`: the row of a scope, if it is within the reach. */
export function scopeRow({ scope_type, scope_id }: CallableScope, reaches: Reaches): RawBuilder<unknown> {
  const { table, id, within } = SCOPE_TABLES[scope_type]
  return sql`${table} AS record WHERE record.${id} = ${scope_id} AND ${reachable(reaches[scope_type], within)}`
}

/** The scope's record after a change. */
export interface ScopeChange {
  readonly version: string
  /** The organization that the scope is, or is in. */
  readonly organization_id: string | null
  readonly mode_before: TargetMode
}

/** Gives the scope's record a new version, which invalidates cache entries, and locks its row until the end of the
 *  batch, so that changes of one scope run one after the other. With `expected` only a record of that version. */
export function newVersion(
  scope: CallableScope,
  reaches: Reaches,
  set = sql``,
  expected?: number,
): RawBuilder<ScopeChange> {
  const { table, id, organization } = SCOPE_TABLES[scope.scope_type]
  const isExpected = expected === undefined ? sql`` : sql`AND record.version = ${expected}`
  return sql<ScopeChange>`
    WITH before AS (SELECT record.${id}, record.target_mode FROM ${scopeRow(scope, reaches)} ${isExpected} FOR UPDATE)
    UPDATE ${table} AS record SET version = ${NEXT_VERSION}${set} FROM before WHERE record.${id} = before.${id}
    RETURNING record.version, ${organization} AS organization_id, before.target_mode AS mode_before`
}
