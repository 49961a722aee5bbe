import { type Fragment, fragment, join, raw, statement } from '../fragment.ts'
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

/** One scope of those that a call of a scope goes through, with everything that is bound there. */
export interface CallableLevel extends CallablePolicy {
  readonly bindings: readonly CallableGrant[]
}

/** A new binding of a scope. */
export interface NewGrant {
  readonly binding_id: string
  readonly callable_kind: CallableGrant['callable_kind']
  readonly callable_key: string
}

/** What the scopes themselves say of what may be called. Every change is one batch with a new version of the scope's
 *  record, which it answers; undefined says that there is no such scope within the reach. */
export interface CallableScopeRecords {
  /** Outermost first, the scope itself last: an organization; a team in its organization; a user; a key with all that
   *  it belongs to. */
  levels(scope: CallableScope, reaches: Reaches): Promise<CallableLevel[] | undefined>
  /** The scopes that have a mode, by kind and id, after the cursor. */
  policies(page: {
    readonly reaches: Reaches
    readonly where: { readonly [Name in keyof CallableScope]?: CallableScope[Name] | undefined }
    readonly cursor: CallableScope | undefined
    readonly limit: number
  }): Promise<CallablePolicy[]>
  putMode(scope: CallableScope, mode: TargetMode, reaches: Reaches): Promise<ScopeChange | undefined>
  /** Leaves these bound, and nothing else, and answers what was bound before. What is bound already keeps its id. */
  replace(
    scope: CallableScope,
    mode: TargetMode,
    grants: readonly NewGrant[],
    reaches: Reaches,
  ): Promise<(ScopeChange & { readonly bindings_before: readonly CallableGrant[] }) | undefined>
}

export function callableScopeRecords(sql: Sql): CallableScopeRecords {
  const rows = async <Row>(text: Fragment) => (await sql.query<Row>(statement(text))).rows
  const withMode = (scope: CallableScope, mode: TargetMode, reaches: Reaches) =>
    newVersion(scope, reaches, fragment`, target_mode = ${mode}, updated_at = now()`)
  return {
    async levels(scope, reaches) {
      const found = await rows<CallableLevel>(fragment`
        WITH chain AS (SELECT ${CHAINS[scope.scope_type]} FROM ${scopeRow(scope, reaches)}),
        level AS (${join(SCOPE_TYPES.map(levelOf), ' UNION ALL ')})
        SELECT level.scope_type, level.scope_id, level.mode, coalesce((
          SELECT json_agg(json_build_object(
            'callable_kind', callable_kind, 'callable_key', callable_key, 'enabled', enabled
          ) ORDER BY callable_kind, callable_key)
          FROM gateway_callable_binding AS binding
          WHERE binding.scope_type = level.scope_type AND binding.scope_id = level.scope_id
        ), '[]') AS bindings
        FROM level ORDER BY level.place`)
      return found.length === 0 ? undefined : found
    },
    policies({ reaches, where, cursor, limit }) {
      const types = SCOPE_TYPES.filter((type) => where.scope_type === undefined || where.scope_type === type)
      const each = types.map((type) => {
        const { table, id, within } = SCOPE_TABLES[type]
        return fragment`
          SELECT ${type}::text COLLATE "C" AS scope_type, record.${id} AS scope_id, record.target_mode AS mode
          FROM ${table} AS record WHERE record.target_mode IS NOT NULL AND ${reachable(reaches[type], within)}`
      })
      const conditions = [
        raw('true'),
        ...(where.scope_id === undefined ? [] : [fragment`scope_id = ${where.scope_id}`]),
        ...(cursor === undefined
          ? []
          : [fragment`(scope_type, scope_id) > (${cursor.scope_type}, ${cursor.scope_id})`]),
      ]
      return rows(fragment`
        SELECT scope_type, scope_id, mode FROM (${join(each, ' UNION ALL ')}) AS policy
        WHERE ${join(conditions, ' AND ')} ORDER BY scope_type, scope_id LIMIT ${limit}`)
    },
    async putMode(scope, mode, reaches) {
      return (await rows<ScopeChange>(withMode(scope, mode, reaches)))[0]
    },
    async replace(scope, mode, grants, reaches) {
      const column = (name: keyof NewGrant) => grants.map((grant) => grant[name])
      const wanted = fragment`
        unnest(${column('binding_id')}::text[], ${column('callable_kind')}::text[], ${column('callable_key')}::text[])
          AS wanted (binding_id, callable_kind, callable_key)`
      const [moved, before] = await sql.batch(
        [
          withMode(scope, mode, reaches),
          fragment`
            SELECT callable_kind, callable_key, enabled FROM gateway_callable_binding
            WHERE scope_type = ${scope.scope_type} AND scope_id = ${scope.scope_id}
            ORDER BY callable_kind, callable_key`,
          fragment`
            DELETE FROM gateway_callable_binding AS binding
            WHERE scope_type = ${scope.scope_type} AND scope_id = ${scope.scope_id}
              AND EXISTS (SELECT FROM ${scopeRow(scope, reaches)})
              AND NOT EXISTS (SELECT FROM ${wanted} WHERE wanted.callable_kind = binding.callable_kind
                AND wanted.callable_key = binding.callable_key)`,
          fragment`
            INSERT INTO gateway_callable_binding AS binding
              (binding_id, scope_type, scope_id, callable_kind, callable_key)
            SELECT wanted.binding_id, ${scope.scope_type}, ${scope.scope_id}, wanted.callable_kind, wanted.callable_key
            FROM ${wanted} WHERE EXISTS (SELECT FROM ${scopeRow(scope, reaches)})
            ON CONFLICT (scope_type, scope_id, callable_kind, callable_key)
              DO UPDATE SET enabled = true, updated_at = now() WHERE NOT binding.enabled`,
        ].map(statement),
      )
      const change = moved?.rows[0] as ScopeChange | undefined
      const bindings_before = (before?.rows ?? []) as unknown as CallableGrant[]
      return change && { ...change, bindings_before }
    },
  }
}

const NONE = 'NULL::text'

/** Which scopes a call of a scope goes through, from the scope's row. A key in a team is in the team's organization, as
 *  it is for its calls. */
const CHAINS: Readonly<Record<ScopeType, Fragment>> = {
  organization: chain('record.organization_id', NONE, NONE, NONE),
  team: chain('record.organization_id', 'record.team_id', NONE, NONE),
  user: chain(NONE, NONE, 'record.user_id', NONE),
  api_key: chain(
    `coalesce((SELECT team.organization_id FROM gateway_team AS team WHERE team.team_id = record.team_id),
      record.organization_id)`,
    'record.team_id',
    'record.user_id',
    'record.key_id',
  ),
}

function chain(...ids: readonly string[]): Fragment {
  return raw(SCOPE_TYPES.map((type, index) => `${ids[index]} AS "${type}"`).join(', '))
}

function levelOf(type: ScopeType, place: number): Fragment {
  const { table, id } = SCOPE_TABLES[type]
  return fragment`
    SELECT ${raw(`${place} AS place, '${type}' AS scope_type`)}, record.${id} AS scope_id, record.target_mode AS mode
    FROM chain JOIN ${table} AS record ON record.${id} = chain.${raw(`"${type}"`)}`
}
