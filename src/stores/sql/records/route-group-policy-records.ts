import { type NotNull, type OperationNodeSource, type RawBuilder, type Selectable, sql } from 'kysely'
import { promptOfPolicy } from '../prompts/prompt-of-policy.ts'
import { batchOf, type Query, queries, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { routingChange } from './routing-change.ts'

export type RouteGroupPolicyRecord = Selectable<Schema['gateway_route_group_policy']>
export type RouteGroupPolicyVersion = Omit<Selectable<Schema['gateway_route_group_policy_version']>, 'group_name'>
type Policy = Record<string, unknown>

/** The policies of route groups: a draft without effect, and published versions, of which the last one applies. Only
 *  publishing increases the revision of routing. undefined means that nothing was changed. */
export interface RouteGroupPolicyRecords {
  find(name: string): Promise<RouteGroupPolicyRecord | undefined>
  /** By name, after the cursor. */
  page(page: { readonly cursor: string; readonly limit: number }): Promise<RouteGroupPolicyRecord[]>
  /** The published policies of all groups. */
  published(): Promise<{ group_name: string; published: Policy }[]>
  /** The groups whose published policies name a prompt, by name. */
  naming(prompt: string): Promise<string[]>
  /** Newest first, those before `cursor`. */
  versions(name: string, page: { readonly cursor: number; readonly limit: number }): Promise<RouteGroupPolicyVersion[]>
  version(name: string, version: number): Promise<RouteGroupPolicyVersion | undefined>
  /** Without `draftVersion`, replaces any draft. */
  putDraft(name: string, policy: Policy, draftVersion: number | undefined): Promise<RouteGroupPolicyRecord | undefined>
  dropDraft(name: string): Promise<RouteGroupPolicyRecord | undefined>
  /** Publishes the draft as the next version, unless it names a prompt that is archived or not there. A draft is
   *  published once, even by simultaneous callers. */
  publish(name: string, draftVersion: number | undefined, by: string): Promise<RouteGroupPolicyRecord | undefined>
  /** Publishes an earlier version as the next one, under the same condition; the draft stays. */
  restore(name: string, version: number, by: string): Promise<RouteGroupPolicyRecord | undefined>
}

const COLUMNS = [
  'group_name',
  'published',
  'version',
  'published_at',
  'restored_from',
  'draft',
  'draft_version',
  'drafted_at',
] as const
const VERSION = ['version', 'policy', 'restored_from', 'published_at', 'published_by'] as const

const now = sql<string>`now()`

export function routeGroupPolicyRecords(database: Sql): RouteGroupPolicyRecords {
  const versions = queries.selectFrom('gateway_route_group_policy_version').select(VERSION)
  const one = async <Row>(query: Query<Row>) => (await rowsOf(database, query))[0]
  /** Publishes while the prompt of the policy is locked, so that it cannot be archived meanwhile. The policy is locked
   *  before its prompt, so that no two publications wait for each other. */
  async function publishing(
    by: string,
    lock: Query<unknown>,
    change: Query<RouteGroupPolicyRecord> & OperationNodeSource,
  ) {
    const published = routingChange(
      change,
      sql`kept AS (
        INSERT INTO gateway_route_group_policy_version
          (group_name, version, policy, restored_from, published_at, published_by)
        SELECT group_name, version, published, restored_from, published_at, ${by} FROM changed
      ),`,
    )
    const [, rows] = await batchOf<[unknown, RouteGroupPolicyRecord]>(database, [lock, published])
    return rows[0]
  }
  return {
    find: (name) =>
      one(queries.selectFrom('gateway_route_group_policy').select(COLUMNS).where('group_name', '=', name)),
    page: ({ cursor, limit }) =>
      rowsOf(
        database,
        queries
          .selectFrom('gateway_route_group_policy')
          .select(COLUMNS)
          .where('group_name', '>', cursor)
          .orderBy('group_name')
          .limit(limit),
      ),
    published: () =>
      rowsOf(
        database,
        queries
          .selectFrom('gateway_route_group_policy')
          .select(['group_name', 'published'])
          .where('published', 'is not', null)
          .$narrowType<{ published: NotNull }>(),
      ),
    async naming(prompt) {
      const rows = await rowsOf(
        database,
        queries
          .selectFrom('gateway_route_group_policy')
          .select('group_name')
          .where(promptOfPolicy(sql.ref('published')), '=', prompt)
          .orderBy('group_name'),
      )
      return rows.map(({ group_name }) => group_name)
    },
    versions: (name, { cursor, limit }) =>
      rowsOf(
        database,
        versions.where('group_name', '=', name).where('version', '<', cursor).orderBy('version', 'desc').limit(limit),
      ),
    version: (name, version) => one(versions.where('group_name', '=', name).where('version', '=', version)),
    putDraft: (name, policy, draftVersion) =>
      one(sql<RouteGroupPolicyRecord>`
        INSERT INTO gateway_route_group_policy AS known (group_name, draft, draft_version, drafted_at)
        SELECT ${name}, ${JSON.stringify(policy)}::json, 1, now() WHERE coalesce(${draftVersion ?? null}::integer, 0) = 0
          OR EXISTS (SELECT FROM gateway_route_group_policy WHERE group_name = ${name})
        ON CONFLICT (group_name) DO UPDATE
          SET draft = excluded.draft, draft_version = known.draft_version + 1, drafted_at = now()
          WHERE known.draft_version = coalesce(${draftVersion ?? null}::integer, known.draft_version)
        RETURNING ${sql.join(COLUMNS.map((column) => sql.id('known', column)))}`),
    dropDraft: (name) =>
      one(
        queries
          .updateTable('gateway_route_group_policy')
          .set({ draft: null, drafted_at: null })
          .where('group_name', '=', name)
          .where('draft', 'is not', null)
          .returning(COLUMNS),
      ),
    publish: (name, draftVersion, by) => {
      const draft = sql.ref('gateway_route_group_policy.draft')
      return publishing(
        by,
        sql`SELECT FROM gateway_route_group_policy AS policy JOIN gateway_prompt AS prompt
          ON prompt.key = ${promptOfPolicy(sql.ref('policy.draft'))} WHERE policy.group_name = ${name} FOR UPDATE`,
        queries
          .updateTable('gateway_route_group_policy')
          .set((held) => ({
            published: held.ref('draft'),
            version: held('version', '+', 1),
            ...{ published_at: now, restored_from: null, draft: null, drafted_at: null },
          }))
          .where('group_name', '=', name)
          .where('draft', 'is not', null)
          .where(hasItsPrompt(draft))
          .$if(draftVersion !== undefined, (update) => update.where('draft_version', '=', draftVersion as number))
          .returning(COLUMNS),
      )
    },
    restore(name, version, by) {
      const past = queries
        .selectFrom('gateway_route_group_policy_version')
        .select('policy')
        .where('group_name', '=', name)
        .where('version', '=', version)
      return publishing(
        by,
        sql`SELECT FROM gateway_route_group_policy AS policy JOIN gateway_prompt AS prompt
          ON prompt.key = ${promptOfPolicy(sql`(${past})`)} WHERE policy.group_name = ${name} FOR UPDATE`,
        queries
          .updateTable('gateway_route_group_policy')
          .set((held) => ({
            published: past,
            version: held('version', '+', 1),
            ...{ published_at: now, restored_from: version },
          }))
          .where('group_name', '=', name)
          .where((held) => held.exists(past))
          .where(hasItsPrompt(sql`(${past})`))
          .returning(COLUMNS),
      )
    },
  }
}

/** Whether the policy names no prompt, or an active one. */
const hasItsPrompt = (policy: RawBuilder<unknown>) =>
  sql<boolean>`(${policy} ->> 'prompt_ref' IS NULL OR EXISTS (SELECT FROM gateway_prompt AS prompt
    WHERE prompt.key = ${promptOfPolicy(policy)} AND prompt.state = 'active'))`
