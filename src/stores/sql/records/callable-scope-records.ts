import { type RawBuilder, sql } from 'kysely'
import { batchOf, rowsOf } from '../query.ts'
import type { Sql } from '../sql.ts'
import type { CallableGrant } from './callable-binding-records.ts'
import {
  type CallableScope,
  newVersion,
  type Reaches,
  SCOPE_TABLES,
  SCOPE_TYPES,
  type ScopeChange,
  type ScopeType,
  scopeRow,
  type TargetMode,
} from './callable-scopes.ts'
import { reachable } from './scope-records.ts'

export interface CallablePolicy extends CallableScope {
  readonly mode: TargetMode
}

/** One of the scopes that determine what a scope may call, with its bindings. */
export interface CallableLevel extends CallablePolicy {
  /** Of the scope's record. */
  readonly version: string
  readonly bindings: readonly CallableGrant[]
}

/** A new binding of a model, or of all with a label. */
export interface NewModelGrant {
  readonly binding_id: string
  readonly callable_kind: 'target' | 'access_group'
  readonly callable_key: string
}

/** The modes of scopes for callable targets. Every change is one batch that gives the scope's record a new version, and
 *  resolves with it; undefined means that the scope does not exist within the reach. */
export interface CallableScopeRecords {
  /** Outermost first, the scope itself last: an organization; a team in its organization; a user; a key with all that
   *  it belongs to. */
  levels(scope: CallableScope, reaches: Reaches): Promise<CallableLevel[] | undefined>
  /** The levels of several scopes by themselves, as far as these exist. */
  each(scopes: Readonly<Partial<Record<ScopeType, readonly string[]>>>): Promise<CallableLevel[]>
  /** The scopes that have a mode, by kind and id, after the cursor. */
  policies(page: {
    readonly reaches: Reaches
    readonly where: { readonly [Name in keyof CallableScope]?: CallableScope[Name] | undefined }
    readonly cursor: CallableScope | undefined
    readonly limit: number
  }): Promise<CallablePolicy[]>
  putMode(scope: CallableScope, mode: TargetMode, reaches: Reaches): Promise<ScopeChange | undefined>
  /** Replaces all bindings of models of the scope; resolves with the earlier ones. Bindings that stay keep their id. With
   *  `version` undefined also means that the scope's record has another one. */
  replaceModels(
    scope: CallableScope,
    rule: {
      readonly mode: TargetMode
      readonly grants: readonly NewModelGrant[]
      readonly version?: number | undefined
    },
    reaches: Reaches,
  ): Promise<(ScopeChange & { readonly bindings_before: readonly CallableGrant[] }) | undefined>
}

export function callableScopeRecords(database: Sql): CallableScopeRecords {
  const withMode = (scope: CallableScope, mode: TargetMode, reaches: Reaches, expected?: number) =>
    newVersion(scope, reaches, sql`, target_mode = ${mode}, updated_at = now()`, expected)
  return {
    async levels(scope, reaches) {
      const found = await rowsOf(
        database,
        sql<CallableLevel>`
        WITH chain AS (SELECT ${CHAINS[scope.scope_type]} FROM ${scopeRow(scope, reaches)}),
        level AS (${sql.join(SCOPE_TYPES.map(levelOf), sql` UNION ALL `)})
        SELECT ${LEVEL} FROM level ORDER BY level.place`,
      )
      return found.length === 0 ? undefined : found
    },
    async each(scopes) {
      const named = SCOPE_TYPES.filter((type) => (scopes[type] ?? []).length > 0)
      if (named.length === 0) return []
      const rows = named.map((type) => {
        const { table, id } = SCOPE_TABLES[type]
        return sql`
          SELECT ${type}::text AS scope_type, record.${id} AS scope_id, record.target_mode AS mode, record.version
          FROM ${table} AS record WHERE record.${id} = ANY(${scopes[type]}::text[])`
      })
      return rowsOf(
        database,
        sql<CallableLevel>`WITH level AS (${sql.join(rows, sql` UNION ALL `)}) SELECT ${LEVEL} FROM level`,
      )
    },
    policies({ reaches, where, cursor, limit }) {
      const types = SCOPE_TYPES.filter((type) => where.scope_type === undefined || where.scope_type === type)
      const each = types.map((type) => {
        const { table, id, within } = SCOPE_TABLES[type]
        return sql`
          SELECT ${type}::text COLLATE "C" AS scope_type, record.${id} AS scope_id, record.target_mode AS mode
          FROM ${table} AS record WHERE record.target_mode IS NOT NULL AND ${reachable(reaches[type], within)}`
      })
      const conditions = [
        sql`true`,
        ...(where.scope_id === undefined ? [] : [sql`scope_id = ${where.scope_id}`]),
        ...(cursor === undefined ? [] : [sql`(scope_type, scope_id) > (${cursor.scope_type}, ${cursor.scope_id})`]),
      ]
      return rowsOf(
        database,
        sql<CallablePolicy>`
        SELECT scope_type, scope_id, mode FROM (${sql.join(each, sql` UNION ALL `)}) AS policy
        WHERE ${sql.join(conditions, sql` AND `)} ORDER BY scope_type, scope_id LIMIT ${limit}`,
      )
    },
    async putMode(scope, mode, reaches) {
      return (await rowsOf(database, withMode(scope, mode, reaches)))[0]
    },
    async replaceModels(scope, { mode, grants, version }, reaches) {
      const column = (name: keyof NewModelGrant) => grants.map((grant) => grant[name])
      const wanted = sql`
        unnest(${column('binding_id')}::text[], ${column('callable_kind')}::text[], ${column('callable_key')}::text[])
          AS wanted (binding_id, callable_kind, callable_key)`
      const ofScope = sql`scope_type = ${scope.scope_type} AND scope_id = ${scope.scope_id} AND ${OF_MODELS}`
      // A statement sees the state at its beginning, so that the change must begin after those before it have ended.
      const lock = sql`SELECT FROM ${scopeRow(scope, reaches)} FOR UPDATE`
      const replacement = sql<ScopeChange & { bindings_before: CallableGrant[] }>`
        WITH change AS (${withMode(scope, mode, reaches, version)}),
        earlier AS (
          SELECT callable_kind, callable_key, enabled FROM gateway_callable_binding WHERE ${ofScope}
        ),
        gone AS (
          DELETE FROM gateway_callable_binding AS binding USING change
          WHERE ${ofScope} AND NOT EXISTS (SELECT FROM ${wanted} WHERE wanted.callable_kind = binding.callable_kind
            AND wanted.callable_key = binding.callable_key)
        ),
        added AS (
          INSERT INTO gateway_callable_binding AS binding
            (binding_id, scope_type, scope_id, callable_kind, callable_key)
          SELECT wanted.binding_id, ${scope.scope_type}, ${scope.scope_id}, wanted.callable_kind, wanted.callable_key
          FROM ${wanted}, change
          ON CONFLICT (scope_type, scope_id, callable_kind, callable_key)
            DO UPDATE SET enabled = true, updated_at = now() WHERE NOT binding.enabled
        )
        SELECT change.*, coalesce((
          SELECT json_agg(earlier ORDER BY callable_kind, callable_key) FROM earlier), '[]') AS bindings_before
        FROM change`
      const [, [change]] = await batchOf(database, [lock, replacement])
      return change
    },
  }
}

/** The columns of a level, with its bindings. */
const LEVEL = sql`level.scope_type, level.scope_id, level.mode, level.version, coalesce((
    SELECT json_agg(json_build_object(
      'callable_kind', callable_kind, 'callable_key', callable_key, 'enabled', enabled
    ) ORDER BY callable_kind, callable_key)
    FROM gateway_callable_binding AS binding
    WHERE binding.scope_type = level.scope_type AND binding.scope_id = level.scope_id
  ), '[]') AS bindings`

const OF_MODELS = sql`callable_kind IN ('target', 'access_group')`
const NONE = sql`NULL::text`

/** Which scopes a call of a scope goes through, from the scope's row. A key in a team is in the team's organization, as
 *  it is for its calls. */
const CHAINS: Readonly<Record<ScopeType, RawBuilder<unknown>>> = {
  organization: chain(sql`record.organization_id`, NONE, NONE, NONE),
  team: chain(sql`record.organization_id`, sql`record.team_id`, NONE, NONE),
  user: chain(NONE, NONE, sql`record.user_id`, NONE),
  api_key: chain(
    sql`coalesce((SELECT team.organization_id FROM gateway_team AS team WHERE team.team_id = record.team_id),
      record.organization_id)`,
    sql`record.team_id`,
    sql`record.user_id`,
    sql`record.key_id`,
  ),
}

function chain(...ids: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(SCOPE_TYPES.map((type, index) => sql`${ids[index]} AS ${sql.id(type)}`))
}

function levelOf(type: ScopeType, place: number): RawBuilder<unknown> {
  const { table, id } = SCOPE_TABLES[type]
  return sql`
    SELECT ${place}::integer AS place, ${type}::text AS scope_type, record.${id} AS scope_id, record.target_mode AS mode,
      record.version
    FROM chain JOIN ${table} AS record ON record.${id} = ${sql.id('chain', type)}`
}
