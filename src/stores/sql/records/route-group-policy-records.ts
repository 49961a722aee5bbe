import type { Selectable } from 'kysely'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { routingChange } from './routing-change.ts'

export type RouteGroupPolicyRecord = Selectable<Schema['gateway_route_group_policy']>
export type RouteGroupPolicyVersion = Omit<Selectable<Schema['gateway_route_group_policy_version']>, 'group_name'>
type Policy = Record<string, unknown>

/** The policies of route groups: a draft that nothing goes by, and published versions of which the last one holds. Only
 *  publishing moves the revision of routing. undefined says that nothing was changed. */
export interface RouteGroupPolicyRecords {
  find(name: string): Promise<RouteGroupPolicyRecord | undefined>
  /** What holds, of every group that has something. */
  published(): Promise<{ group_name: string; published: Policy }[]>
  /** Newest first, those before `cursor`. */
  versions(name: string, page: { readonly cursor: number; readonly limit: number }): Promise<RouteGroupPolicyVersion[]>
  version(name: string, version: number): Promise<RouteGroupPolicyVersion | undefined>
  /** Without a version, whichever draft there is. */
  putDraft(name: string, policy: Policy, draftVersion: number | undefined): Promise<RouteGroupPolicyRecord | undefined>
  dropDraft(name: string): Promise<RouteGroupPolicyRecord | undefined>
  /** The draft becomes the next version. Of several who publish one draft, one does. */
  publish(name: string, draftVersion: number | undefined): Promise<RouteGroupPolicyRecord | undefined>
  /** What was published once becomes the next version; a draft stays. */
  restore(name: string, version: number): Promise<RouteGroupPolicyRecord | undefined>
}

const COLUMNS = 'group_name, published, version, published_at, restored_from, draft, draft_version, drafted_at'
const VERSION = 'version, policy, restored_from, published_at'

const publishing = (statement: string) =>
  routingChange(
    statement,
    COLUMNS,
    `kept AS (
      INSERT INTO gateway_route_group_policy_version (group_name, version, policy, restored_from, published_at)
      SELECT group_name, version, published, restored_from, published_at FROM changed
    )`,
  )

export function routeGroupPolicyRecords(sql: Sql): RouteGroupPolicyRecords {
  const rows = async <Row>(text: string, ...parameters: unknown[]) =>
    (await sql.query<Row>({ sql: text, parameters })).rows
  const one = async (text: string, ...parameters: unknown[]) =>
    (await rows<RouteGroupPolicyRecord>(text, ...parameters))[0]
  return {
    find: (name) => one(`SELECT ${COLUMNS} FROM gateway_route_group_policy WHERE group_name = $1`, name),
    published: () => rows('SELECT group_name, published FROM gateway_route_group_policy WHERE published IS NOT NULL'),
    versions: (name, { cursor, limit }) =>
      rows(
        `SELECT ${VERSION} FROM gateway_route_group_policy_version WHERE group_name = $1 AND version < $2
         ORDER BY version DESC LIMIT $3`,
        name,
        cursor,
        limit,
      ),
    version: async (name, version) =>
      (
        await rows<RouteGroupPolicyVersion>(
          `SELECT ${VERSION} FROM gateway_route_group_policy_version WHERE group_name = $1 AND version = $2`,
          name,
          version,
        )
      )[0],
    putDraft: (name, policy, draftVersion) =>
      one(
        `INSERT INTO gateway_route_group_policy AS known (group_name, draft, draft_version, drafted_at)
         SELECT $1, $2::json, 1, now() WHERE coalesce($3::integer, 0) = 0
           OR EXISTS (SELECT FROM gateway_route_group_policy WHERE group_name = $1)
         ON CONFLICT (group_name) DO UPDATE
           SET draft = excluded.draft, draft_version = known.draft_version + 1, drafted_at = now()
           WHERE known.draft_version = coalesce($3::integer, known.draft_version)
         RETURNING ${COLUMNS}`,
        name,
        JSON.stringify(policy),
        draftVersion ?? null,
      ),
    dropDraft: (name) =>
      one(
        `UPDATE gateway_route_group_policy SET draft = NULL, drafted_at = NULL
         WHERE group_name = $1 AND draft IS NOT NULL RETURNING ${COLUMNS}`,
        name,
      ),
    publish: (name, draftVersion) =>
      one(
        publishing(
          `UPDATE gateway_route_group_policy
           SET published = draft, version = version + 1, published_at = now(), restored_from = NULL,
             draft = NULL, drafted_at = NULL
           WHERE group_name = $1 AND draft IS NOT NULL AND draft_version = coalesce($2::integer, draft_version)`,
        ),
        name,
        draftVersion ?? null,
      ),
    restore: (name, version) =>
      one(
        publishing(
          `UPDATE gateway_route_group_policy
           SET published = (SELECT policy FROM gateway_route_group_policy_version AS past
               WHERE past.group_name = $1 AND past.version = $2),
             version = version + 1, published_at = now(), restored_from = $2
           WHERE group_name = $1 AND EXISTS (SELECT FROM gateway_route_group_policy_version AS past
             WHERE past.group_name = $1 AND past.version = $2)`,
        ),
        name,
        version,
      ),
  }
}
