import type { Selectable } from 'kysely'
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

const COLUMNS = 'name, enabled, members, version, created_at, updated_at'

export function routeGroupRecords(sql: Sql): RouteGroupRecords {
  const rows = async (text: string, ...parameters: unknown[]) =>
    (await sql.query<RouteGroupRecord>({ sql: text, parameters })).rows
  const one = async (text: string, ...parameters: unknown[]) => (await rows(text, ...parameters))[0]
  return {
    all: () => rows(`SELECT ${COLUMNS} FROM gateway_route_group ORDER BY name`),
    find: (name) => one(`SELECT ${COLUMNS} FROM gateway_route_group WHERE name = $1`, name),
    page: ({ search, cursor, limit }) =>
      rows(
        `SELECT ${COLUMNS} FROM gateway_route_group WHERE name > $1 AND strpos(lower(name), lower($2)) > 0
         ORDER BY name LIMIT $3`,
        cursor,
        search,
        limit,
      ),
    create: ({ name, enabled, members }) =>
      one(
        routingChange(
          'INSERT INTO gateway_route_group (name, enabled, members) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
          COLUMNS,
        ),
        name,
        enabled,
        JSON.stringify(members),
      ),
    replace: ({ name, enabled, members }, version) =>
      one(
        routingChange(
          `UPDATE gateway_route_group SET enabled = $2, members = $3, version = version + 1, updated_at = now()
           WHERE name = $1 AND version = coalesce($4::integer, version)`,
          COLUMNS,
        ),
        name,
        enabled,
        JSON.stringify(members),
        version ?? null,
      ),
    remove: (name) => one(routingChange('DELETE FROM gateway_route_group WHERE name = $1', COLUMNS), name),
  }
}
