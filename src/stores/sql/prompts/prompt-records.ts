import { type RawBuilder, type Selectable, sql } from 'kysely'
import { contains } from '../contains.ts'
import { batchOf, type Query, queries, rowsOf } from '../query.ts'
import { routingChange } from '../records/routing-change.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { promptOfPolicy } from './prompt-of-policy.ts'

export type PromptRecord = Selectable<Schema['gateway_prompt']>
export type PromptVersionRecord = Omit<Selectable<Schema['gateway_prompt_version']>, 'key'>
/** A version without what it says. */
export type PromptVersionSummary = Omit<PromptVersionRecord, 'messages' | 'variables'>
type VersionOf = Pick<PromptVersionRecord, 'messages' | 'variables'> & {
  readonly key: string
  readonly version: number
}

/** A new version, and the labels that move to it. */
export interface NewVersion {
  readonly messages: readonly unknown[]
  readonly variables: Readonly<Record<string, unknown>>
  readonly createdBy: string
  readonly note: string
  readonly labels: readonly string[]
}

/** A change of a label, with the version that it named before. */
export interface LabelMove {
  readonly prompt: PromptRecord
  readonly from: number | null
}

export interface PromptPage {
  readonly search: string
  readonly cursor: string
  readonly limit: number
  readonly state: PromptRecord['state'] | undefined
}

/** Prompt templates: a head with labels, and versions that never change, numbered from 1 without gaps. Every change is
 *  one statement, which also increases the revision that processes watch. undefined says that nothing was changed:
 *  there is no such prompt or version, or its state forbids it. */
export interface PromptRecords {
  /** The prompts that calls may name. */
  active(): Promise<Pick<PromptRecord, 'key' | 'labels' | 'latest' | 'created_at'>[]>
  /** Versions of prompts, as far as they exist. */
  contents(of: readonly { readonly key: string; readonly version: number }[]): Promise<VersionOf[]>
  /** By key, after the cursor. */
  page(page: PromptPage): Promise<PromptRecord[]>
  find(key: string): Promise<PromptRecord | undefined>
  /** Newest first, those before `before`. */
  versions(key: string, page: { readonly before: number; readonly limit: number }): Promise<PromptVersionSummary[]>
  version(key: string, version: number): Promise<PromptVersionRecord | undefined>
  create(key: string, description: string, first: NewVersion): Promise<PromptRecord | undefined>
  addVersion(key: string, next: NewVersion): Promise<PromptRecord | undefined>
  /** Without `revision`, changes any revision. */
  describe(key: string, description: string, revision: number | undefined): Promise<PromptRecord | undefined>
  /** Archives a prompt that no published policy names, those of `except` aside: groups that are no more. */
  archive(key: string, except: readonly string[]): Promise<PromptRecord | undefined>
  unarchive(key: string): Promise<PromptRecord | undefined>
  /** Removes an archived prompt with its versions. */
  remove(key: string): Promise<PromptRecord | undefined>
  moveLabel(key: string, label: string, version: number): Promise<LabelMove | undefined>
  dropLabel(key: string, label: string): Promise<LabelMove | undefined>
  /** Moves a label back to the version that it named before its last move; doing it twice changes nothing. */
  rollBack(key: string, label: string): Promise<LabelMove | undefined>
}

const HEAD = [
  'key',
  'state',
  'description',
  'labels',
  'former_labels',
  'latest',
  'revision',
  'created_at',
  'updated_at',
] as const
const SUMMARY = ['version', 'created_at', 'created_by', 'note'] as const
const VERSION = [...SUMMARY, 'messages', 'variables'] as const

const CHANGED = sql`revision = prompt.revision + 1, updated_at = now()`

export function promptRecords(database: Sql): PromptRecords {
  const one = async <Row>(query: Query<Row>) => (await rowsOf(database, query))[0]
  const heads = queries.selectFrom('gateway_prompt').select(HEAD)
  return {
    active: () =>
      rowsOf(
        database,
        queries
          .selectFrom('gateway_prompt')
          .select(['key', 'labels', 'latest', 'created_at'])
          .where('state', '=', 'active'),
      ),
    contents: (wanted) =>
      rowsOf(
        database,
        sql<VersionOf>`
          SELECT one.key, one.version, one.messages, one.variables
          FROM unnest(${wanted.map(({ key }) => key)}::text[], ${wanted.map(({ version }) => version)}::integer[])
            AS wanted (key, version)
          JOIN gateway_prompt_version AS one ON one.key = wanted.key AND one.version = wanted.version`,
      ),
    page: ({ search, cursor, limit, state }) =>
      rowsOf(
        database,
        heads
          .where('key', '>', cursor)
          .$if(state !== undefined, (query) => query.where('state', '=', state as PromptRecord['state']))
          .$if(search !== '', (query) => query.where(contains(sql`key || ' ' || description`, search)))
          .orderBy('key')
          .limit(limit),
      ),
    find: (key) => one(heads.where('key', '=', key)),
    versions: (key, { before, limit }) =>
      rowsOf(
        database,
        queries
          .selectFrom('gateway_prompt_version')
          .select(SUMMARY)
          .where('key', '=', key)
          .where('version', '<', before)
          .orderBy('version', 'desc')
          .limit(limit),
      ),
    version: (key, version) =>
      one(
        queries
          .selectFrom('gateway_prompt_version')
          .select(VERSION)
          .where('key', '=', key)
          .where('version', '=', version),
      ),
    create: (key, description, first) =>
      one(
        withVersion(
          sql`INSERT INTO gateway_prompt (key, description, latest, labels)
            VALUES (${key}, ${description}, 1, ${asText(at(first.labels, sql`1`))}) ON CONFLICT DO NOTHING`,
          first,
        ),
      ),
    addVersion: (key, next) =>
      one(
        withVersion(
          sql`UPDATE gateway_prompt AS prompt SET latest = prompt.latest + 1,
              labels = ${asText(sql`prompt.labels::jsonb || ${at(next.labels, sql`prompt.latest + 1`)}`)},
              former_labels = ${asText(sql`prompt.former_labels::jsonb || ${formerOf(next.labels)}`)}, ${CHANGED}
            WHERE key = ${key} AND state = 'active'`,
          next,
        ),
      ),
    describe: (key, description, revision) =>
      one(
        routingChange(sql<PromptRecord>`
          UPDATE gateway_prompt AS prompt SET description = ${description}, ${CHANGED}
          WHERE key = ${key} AND revision = coalesce(${revision ?? null}::integer, revision) RETURNING ${headOf()}`),
      ),
    async archive(key, except) {
      const named = sql`SELECT FROM gateway_route_group_policy AS policy
        WHERE ${promptOfPolicy(sql.ref('policy.published'))} = ${key} AND policy.group_name <> ALL (${except}::text[])`
      // What is published meanwhile waits for the lock, or is seen by the statement behind it.
      const [, changed] = await batchOf<[PromptRecord, PromptRecord]>(database, [
        heads.where('key', '=', key).forUpdate(),
        routingChange(sql<PromptRecord>`
          UPDATE gateway_prompt AS prompt SET state = 'archived', ${CHANGED}
          WHERE key = ${key} AND state = 'active' AND NOT EXISTS (${named}) RETURNING ${headOf()}`),
      ])
      return changed[0]
    },
    unarchive: (key) =>
      one(
        routingChange(sql<PromptRecord>`
          UPDATE gateway_prompt AS prompt SET state = 'active', ${CHANGED}
          WHERE key = ${key} AND state = 'archived' RETURNING ${headOf()}`),
      ),
    remove: (key) =>
      one(
        routingChange(sql<PromptRecord>`
          DELETE FROM gateway_prompt AS prompt WHERE key = ${key} AND state = 'archived' RETURNING ${headOf()}`),
      ),
    moveLabel: (key, label, version) =>
      one(
        relabelled(
          sql`labels = ${asText(sql`prompt.labels::jsonb || jsonb_build_object(${label}::text, ${version}::integer)`)},
            former_labels = CASE WHEN prompt.labels ->> ${label}::text = ${String(version)} THEN prompt.former_labels
              ELSE ${asText(sql`prompt.former_labels::jsonb || ${formerOf([label])}`)} END`,
          sql`${version} BETWEEN 1 AND prompt.latest`,
          { key, label },
        ),
      ).then(moved),
    dropLabel: (key, label) =>
      one(
        relabelled(
          sql`labels = ${asText(sql`prompt.labels::jsonb - ${label}::text`)},
            former_labels = ${asText(sql`prompt.former_labels::jsonb - ${label}::text`)}`,
          sql`prompt.labels ->> ${label}::text IS NOT NULL`,
          { key, label },
        ),
      ).then(moved),
    rollBack: (key, label) =>
      one(
        relabelled(
          sql`labels = ${asText(sql`prompt.labels::jsonb
                || jsonb_build_object(${label}::text, prompt.former_labels::jsonb -> ${label}::text)`)},
            former_labels = ${asText(sql`prompt.former_labels::jsonb || ${formerOf([label])}`)}`,
          sql`prompt.labels ->> ${label}::text IS NOT NULL AND prompt.former_labels ->> ${label}::text IS NOT NULL`,
          { key, label },
        ),
      ).then(moved),
  }
}

type Moved = PromptRecord & { readonly moved_from: number | null }

function moved(row: Moved | undefined): LabelMove | undefined {
  if (!row) return undefined
  const { moved_from: from, ...prompt } = row
  return { prompt, from }
}

/** A change of the head, and the version that it numbers. The row of the head is locked until the statement ends, so
 *  that simultaneous ones take turns. */
function withVersion(head: RawBuilder<unknown>, version: NewVersion): RawBuilder<PromptRecord> {
  const { messages, variables, createdBy, note } = version
  return routingChange(
    sql<PromptRecord>`${head} RETURNING ${sql.join(HEAD.map((name) => sql.id(name)))}`,
    sql`written AS (
      INSERT INTO gateway_prompt_version (key, version, messages, variables, created_by, note)
      SELECT key, latest, ${JSON.stringify(messages)}::json, ${JSON.stringify(variables)}::json, ${createdBy}, ${note}
      FROM changed
    ),`,
  )
}

/** A change of labels, with the version that the label named before. */
function relabelled(
  set: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
  { key, label }: { readonly key: string; readonly label: string },
): RawBuilder<Moved> {
  return routingChange(sql<Moved>`
    UPDATE gateway_prompt AS prompt SET ${set}, ${CHANGED}
    FROM (SELECT key AS held, (labels ->> ${label}::text)::integer AS moved_from FROM gateway_prompt WHERE key = ${key} FOR UPDATE) AS before
    WHERE prompt.key = before.held AND prompt.state = 'active' AND ${where} RETURNING ${headOf()}, before.moved_from`)
}

const headOf = () => sql.join(HEAD.map((name) => sql.id('prompt', name)))

/** Labels at one version. */
function at(labels: readonly string[], version: RawBuilder<unknown>): RawBuilder<unknown> {
  if (labels.length === 0) return sql`'{}'::jsonb`
  return sql`jsonb_build_object(${sql.join(labels.flatMap((label) => [sql`${label}::text`, version]))})`
}

/** The versions that labels name now, of those that there are. */
function formerOf(labels: readonly string[]): RawBuilder<unknown> {
  if (labels.length === 0) return sql`'{}'::jsonb`
  const held = labels.flatMap((label) => [sql`${label}::text`, sql`prompt.labels::jsonb -> ${label}::text`])
  return sql`jsonb_strip_nulls(jsonb_build_object(${sql.join(held)}))`
}

const asText = (value: RawBuilder<unknown>) => sql`(${value})::json`
