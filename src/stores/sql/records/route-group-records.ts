import { type Selectable, sql } from 'kysely'
import { type Query, queries, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { routingChange } from './routing-change.ts'

export type RouteGroupRecord = Selectable<Schema['gateway_route_group']>
export type RouteGroupContent = Pick<RouteGroupRecord, 'name' | 'enabled' | 'members'>

/** The route groups. Every change moves the revision of routing; undefined says that nothing was changed, because the
 *  name is taken, absent, or at another version. */
export interface RouteGroupRecords {
  all(): Promise<RouteGroupRecord[]>
  find(name: string): Promise<RouteGroupRecord | undefined>
  /** By name, after `cursor`. */
  page(page: { readonly search: string; readonly cursor: string; readonly limit: number }): Promise<RouteGroupRecord[]>
  create(content: RouteGroupContent): Promise<RouteGroupRecord | undefined>
  /** Without a version, whichever there is. */
  replace(content: RouteGroupContent, version: number | undefined): Promise<RouteGroupRecord | undefined>
  remove(name: string): Promise<RouteGroupRecord | undefined>
}

const COLUMNS = ['name', 'enabled', 'members', 'version', 'created_at', 'updated_at'] as const

export function routeGroupRecords(database: Sql): RouteGroupRecords {
  const all = queries.selectFrom('gateway_route_group').select(COLUMNS).orderBy('name')
  const one = async (query: Query<RouteGroupRecord>) => (await rowsOf(database, query))[0]
  return {
    all: () => rowsOf(database, all),
    find: (name) => one(all.where('name', '=', name)),
    page: ({ search, cursor, limit }) =>
      rowsOf(
        database,
        all.where('name', '>', cursor).where(sql<boolean>`strpos(lower(name), lower(${search})) > 0`).limit(limit),
      ),
    create: ({ name, enabled, members }) =>
      one(
        routingChange(
          queries
            .insertInto('gateway_route_group')
            .values({ name, enabled, members: JSON.stringify(members) })
            .onConflict((conflict) => conflict.doNothing())
            .returning(COLUMNS),
        ),
      ),
    replace: ({ name, enabled, members }, version) =>
      one(
        routingChange(
          queries
            .updateTable('gateway_route_group')
            .set((held) => ({
              enabled,
              members: JSON.stringify(members),
              version: held('version', '+', 1),
              updated_at: sql<string>`now()`,
            }))
            .where('name', '=', name)
            .$if(version !== undefined, (update) => update.where('version', '=', version as number))
            .returning(COLUMNS),
        ),
      ),
    remove: (name) =>
      one(routingChange(queries.deleteFrom('gateway_route_group').where('name', '=', name).returning(COLUMNS))),
  }
}
