import { type RawBuilder, type Selectable, sql } from 'kysely'
import { batchOf, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import { type Sql, SqlError, UNIQUE_VIOLATION } from '../sql.ts'
import {
  type CallableScope,
  newVersion,
  type Reaches,
  SCOPE_TABLES,
  SCOPE_TYPES,
  type ScopeChange,
  scopeRow,
} from './callable-scopes.ts'
import { reachable } from './scope-records.ts'

export type CallableBinding = Selectable<Schema['gateway_callable_binding']>
/** The target or access group of a binding, and whether the binding is enabled. */
export type CallableGrant = Pick<CallableBinding, 'callable_kind' | 'callable_key' | 'enabled'>
/** A change: omitted fields stay. */
export type GrantChange = { readonly [Name in keyof CallableGrant]?: CallableGrant[Name] | undefined }
type Filter = 'scope_type' | 'scope_id' | 'callable_kind' | 'callable_key'

export interface ChangedBinding {
  readonly binding: CallableBinding
  readonly scope: ScopeChange
}

/** The bindings of organizations, teams, users and keys. Every change is one batch, gives the scope's record a new
 *  version, and is limited to the reach. undefined means that the binding or scope does not exist; `taken`, that the
 *  scope already has the same binding. */
export interface CallableBindingRecords {
  find(id: string, reaches: Reaches): Promise<CallableBinding | undefined>
  /** By id, after the cursor. */
  page(page: {
    readonly reaches: Reaches
    /** Columns that must hold these values. */
    readonly where: { readonly [Name in Filter]?: CallableBinding[Name] | undefined }
    readonly cursor: string
    readonly limit: number
  }): Promise<CallableBinding[]>
  create(
    id: string,
    scope: CallableScope,
    grant: CallableGrant,
    reaches: Reaches,
  ): Promise<ChangedBinding | 'taken' | undefined>
  change(binding: CallableBinding, grant: GrantChange, reaches: Reaches): Promise<ChangedBinding | 'taken' | undefined>
  remove(binding: CallableBinding, reaches: Reaches): Promise<ChangedBinding | undefined>
}

const NAMES = [
  'binding_id',
  'scope_type',
  'scope_id',
  'callable_kind',
  'callable_key',
  'enabled',
  'created_at',
  'updated_at',
]
const COLUMNS = sql.join(NAMES.map((name) => sql.id('binding', name)))

export function callableBindingRecords(database: Sql): CallableBindingRecords {
  const select = (conditions: readonly RawBuilder<unknown>[], rest = sql``) =>
    rowsOf(
      database,
      sql<CallableBinding>`
        SELECT ${COLUMNS} FROM gateway_callable_binding AS binding WHERE ${sql.join(conditions, sql` AND `)}${rest}`,
    )
  const changed = async (scope: CallableScope, reaches: Reaches, change: RawBuilder<CallableBinding>) => {
    const [[moved], [written]] = await batchOf(database, [newVersion(scope, reaches), change])
    return { scope: moved, binding: written }
  }
  return {
    async find(id, reaches) {
      return (await select([sql`binding.binding_id = ${id}`, visible(reaches)]))[0]
    },
    page({ reaches, where, cursor, limit }) {
      const filters = Object.entries(where).flatMap(([name, value]) =>
        value === undefined ? [] : [sql`${sql.id('binding', name)} = ${value}`],
      )
      const conditions = [sql`binding.binding_id > ${cursor}`, ...filters, visible(reaches)]
      return select(conditions, sql` ORDER BY binding.binding_id LIMIT ${limit}`)
    },
    async create(id, target, { callable_kind, callable_key, enabled }, reaches) {
      const { scope, binding } = await changed(
        target,
        reaches,
        sql`
          INSERT INTO gateway_callable_binding AS binding
            (binding_id, scope_type, scope_id, callable_kind, callable_key, enabled)
          SELECT ${id}, ${target.scope_type}, ${target.scope_id}, ${callable_kind}, ${callable_key}, ${enabled}
          FROM ${scopeRow(target, reaches)}
          ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
      )
      if (scope === undefined) return undefined
      return binding ? { binding, scope } : 'taken'
    },
    async change(before, { callable_kind = null, callable_key = null, enabled = null }, reaches) {
      try {
        const { scope, binding } = await changed(
          before,
          reaches,
          sql`
            UPDATE gateway_callable_binding AS binding
            SET callable_kind = coalesce(${callable_kind}, binding.callable_kind),
              callable_key = coalesce(${callable_key}, binding.callable_key),
              enabled = coalesce(${enabled}::boolean, binding.enabled), updated_at = now()
            WHERE binding.binding_id = ${before.binding_id} AND EXISTS (SELECT FROM ${scopeRow(before, reaches)})
            RETURNING ${COLUMNS}`,
        )
        return binding && scope ? { binding, scope } : undefined
      } catch (error) {
        if (error instanceof SqlError && error.code === UNIQUE_VIOLATION) return 'taken'
        throw error
      }
    },
    async remove(before, reaches) {
      const { scope, binding } = await changed(
        before,
        reaches,
        sql`
          DELETE FROM gateway_callable_binding AS binding
          WHERE binding.binding_id = ${before.binding_id} AND EXISTS (SELECT FROM ${scopeRow(before, reaches)})
          RETURNING ${COLUMNS}`,
      )
      return binding && scope ? { binding, scope } : undefined
    },
  }
}

/** Whether a binding's scope is within the reach. */
function visible(reaches: Reaches): RawBuilder<unknown> {
  if (SCOPE_TYPES.every((type) => reaches[type] === 'everything')) return sql`true`
  const each = SCOPE_TYPES.map((type) => {
    const { table, id, within } = SCOPE_TABLES[type]
    return sql`(binding.scope_type = ${type} AND EXISTS (SELECT FROM ${table} AS record
      WHERE record.${id} = binding.scope_id AND ${reachable(reaches[type], within)}))`
  })
  return sql`(${sql.join(each, sql` OR `)})`
}
