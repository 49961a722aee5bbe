import { type RawBuilder, sql } from 'kysely'
import { contains } from '../contains.ts'
import { batchOf, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import { NOTHING, type OrderParts, orderParts, type RecordOrder, type RecordPosition } from '../scopes/record-order.ts'
import type { Sql } from '../sql.ts'
import type { Owner, Reach } from './reach.ts'
import { stored } from './stored.ts'

/** Values by column. null resets a column to its default; an expression is computed by the database. */
export type ValuesOf<Row> = {
  readonly [Column in keyof Row]?: Row[Column] | NumberFor<Row[Column]> | RawBuilder<unknown> | null | undefined
}

/** Large numbers are read as text, and written as text or numbers. */
type NumberFor<Value> = string extends Value ? number : never

/** A record after a change, and the former values of the changed columns. */
export interface Changed<Row> {
  readonly record: Row
  readonly before: ValuesOf<Row>
}

export interface PageOf<Row> {
  readonly reach: Reach
  readonly search: string
  /** Default: by id. */
  readonly order?: RecordOrder | undefined
  /** The last record of the page before. */
  readonly after?: RecordPosition | undefined
  readonly limit: number
  /** Columns that must hold these values. */
  readonly where: ValuesOf<Row>
  /** Filters of the kind's own, by name. */
  readonly filters?: Readonly<Record<string, unknown>> | undefined
}

/** A record of a page, with the value that the page is ordered by. */
export type Listed<Row> = Row & { readonly order_value: string }

/** Records of one kind that callers are read from. Every change is one statement, gives the record a new version, and is
 *  limited to the reach. undefined: there is no such record within it, or it does not meet the condition. */
export interface ScopeRecords<Row extends object> {
  find(id: string, reach: Reach): Promise<Row | undefined>
  page(page: PageOf<Row>): Promise<Listed<Row>[]>
  /** undefined: the id is taken. */
  create(values: ValuesOf<Row>): Promise<Row | undefined>
  /** Writes the values if the record's columns equal those of `expected`. */
  change(id: string, reach: Reach, values: ValuesOf<Row>, expected?: ValuesOf<Row>): Promise<Changed<Row> | undefined>
  /** Also removes its members, its bindings and the spend of its budget. Fails on a foreign key if other records need
   *  it. */
  remove(id: string, reach: Reach): Promise<Row | undefined>
}

/** The properties of one kind. */
export interface ScopeTable<Row> {
  readonly table: keyof Schema
  readonly id: keyof Row & string
  /** The kind's name in bindings and memberships. */
  readonly scopeType: 'organization' | 'team' | 'user' | 'api_key'
  /** The prefix of its budget's subjects. */
  readonly level: string
  readonly columns: readonly (keyof Row & string)[]
  /** Columns of text in which a search looks. */
  readonly searched: readonly (keyof Row & string)[]
  /** The column with what people call a record. */
  readonly name: keyof Row & string
  readonly within: Within
  /** Conditions for filters of the kind's own. */
  readonly holds?: (filters: Readonly<Record<string, unknown>>) => readonly RawBuilder<unknown>[]
  /** Deletes what goes with the record `gone`: a part of its removal. */
  readonly takesAlong?: RawBuilder<unknown>
}

/** Whether a row lies in one of the organizations or teams, or belongs to the owner. */
export type Within = (reach: {
  readonly organizations: RawBuilder<unknown>
  readonly teams: RawBuilder<unknown>
  readonly own: Owner | undefined
  readonly wholeUsers: boolean
}) => RawBuilder<boolean>

/** The columns that every kind has. */
export const SCOPE_COLUMNS = [
  'rpm_limit',
  'tpm_limit',
  'rph_limit',
  'rpd_limit',
  'tpd_limit',
  'max_budget',
  'soft_budget',
  'budget_duration',
  'budget_started_at',
  'metadata',
  'version',
  'created_at',
  'updated_at',
] as const

export const NEXT_VERSION = sql<string>`nextval('gateway_record_version')`

const AND = sql` AND `
/** Up to this many matches of a search are read first. The first page of more of them is soon found in order. */
const FEW = 1000

export function scopeRecords<Row extends object>(database: Sql, kind: ScopeTable<Row>): ScopeRecords<Row> {
  const [table, id] = [sql.table(kind.table), sql.id(kind.id)]
  const columns = sql.join(kind.columns.map((column) => sql.id('record', column)))
  const searched = sql.join(
    kind.searched.map((column) => sql`coalesce(${sql.id('record', column)}, '')`),
    sql` || ' ' || `,
  )
  const one = (key: string, reach: Reach) => sql`record.${id} = ${key} AND ${reachable(reach, kind.within)}`
  return {
    async find(key, reach) {
      return (await rowsOf(database, sql<Row>`SELECT ${columns} FROM ${table} AS record WHERE ${one(key, reach)}`))[0]
    },
    async page({ reach, search, order = 'id', after, limit, where, filters = {} }) {
      const key = sql`record.${id}`
      const ordered: OrderParts =
        order === 'id'
          ? { joins: sql``, value: key, by: key, after: (last) => sql`${key} > ${last.id}` }
          : orderParts(order, kind)
      const { joins, value, by, holds, without } = ordered
      const matches = contains(searched, search)
      /** The condition of a search: the ids of a few matches, so that the statement joins nothing to other records. */
      async function found(): Promise<RawBuilder<unknown>> {
        if (!without) return matches
        const some = sql<{ id: string }>`SELECT ${key} AS id FROM ${table} AS record WHERE ${matches} LIMIT ${FEW + 1}`
        const ids = (await rowsOf(database, some)).map((row) => row.id)
        return ids.length > FEW ? matches : sql`${key} = ANY(${ids}::text[])`
      }
      const conditions = [
        ...(search === '' ? [] : [await found()]),
        reachable(reach, kind.within),
        ...holding(where),
        ...(kind.holds?.(filters) ?? []),
      ]
      const behind = [...(after ? [ordered.after(after)] : []), ...conditions, ...(holds ? [holds] : [])]
      const listed = sql<Listed<Row>>`
        SELECT ${columns}, ${value} AS order_value FROM ${table} AS record ${joins}
        WHERE ${sql.join(behind, AND)} ORDER BY ${by} LIMIT ${limit}`
      if (!without) return rowsOf(database, listed)
      const isLast = after?.value === NOTHING
      const last = [...(isLast ? [sql`${key} < ${after.id}`] : []), ...conditions, without]
      // Records without a value come last, and are read only if the page is not full without them.
      return rowsOf(
        database,
        sql<Listed<Row>>`
          WITH listed AS MATERIALIZED (${listed}), last AS (
            SELECT ${columns}, ${NOTHING} AS order_value FROM ${table} AS record
            WHERE (SELECT count(*) FROM listed) < ${limit} AND ${sql.join(last, AND)} ORDER BY ${key} DESC LIMIT ${limit}
          )
          SELECT * FROM (SELECT * FROM listed UNION ALL SELECT * FROM last) AS record
          ORDER BY order_value::numeric DESC, ${key} DESC LIMIT ${limit}`,
      )
    },
    async create(values) {
      const given = present(values)
      const [row] = await rowsOf(
        database,
        sql<Row>`
          WITH made AS (
            INSERT INTO ${table} AS record (${sql.join(given.map(([name]) => sql.id(name)))})
            VALUES (${sql.join(given.map(([, value]) => stored(value)))})
            ON CONFLICT DO NOTHING RETURNING ${columns}
          ),
          ${withoutSpend('made', kind.level, values[kind.id as keyof typeof values])}
          SELECT * FROM made`,
      )
      return row
    },
    // The lock serialises changes: each one sees the result of the former one and gets a newer version.
    async change(key, reach, values, expected = {}) {
      const before = Object.keys(values).map((name) => sql`${sql.id('before', name)} AS ${sql.id(`${BEFORE}${name}`)}`)
      const set = [sql`version = ${NEXT_VERSION}`, sql`updated_at = now()`, ...assignments(values)]
      const [row] = await rowsOf(
        database,
        sql<Row>`
          WITH before AS (
            SELECT * FROM ${table} AS record WHERE ${sql.join([one(key, reach), ...holding(expected)], AND)}
            FOR NO KEY UPDATE
          )
          ${withoutEnd(values) ? sql`, spent AS (${spentWithoutEnd(subjectOf(kind.level, key))})` : sql``}
          UPDATE ${table} AS record SET ${sql.join(set)} FROM before WHERE record.${id} = before.${id}
          RETURNING ${sql.join([columns, ...before])}`,
      )
      return row && changed(row)
    },
    async remove(key, reach) {
      const names = sql.join(kind.columns.filter((column) => column !== 'version').map((column) => sql.id(column)))
      // Writers of members and bindings hold a lock on the row. A statement sees the state at its beginning, so that the
      // removal must begin after they have ended.
      const lock = sql`SELECT FROM ${table} AS record WHERE ${one(key, reach)} FOR UPDATE`
      const removal = sql<Row>`
        WITH gone AS (DELETE FROM ${table} AS record WHERE ${one(key, reach)} RETURNING ${columns}),
        members AS (
          DELETE FROM gateway_membership USING gone WHERE scope_type = ${kind.scopeType} AND scope_id = gone.${id}
        ),
        bindings AS (
          DELETE FROM gateway_callable_binding USING gone
          WHERE scope_type = ${kind.scopeType} AND scope_id = gone.${id}
        ),
        ${kind.takesAlong ? sql`${kind.takesAlong},` : sql``}
        ${withoutSpend('gone', kind.level, key)}
        SELECT ${names}, ${NEXT_VERSION} AS version FROM gone`
      const [, [removed]] = await batchOf(database, [lock, removal])
      return removed
    },
  }
}

export function reachable(reach: Reach, within: Within): RawBuilder<boolean> {
  if (reach === 'everything') return sql`true`
  const { organizations, teams, own, wholeUsers = false } = reach
  return within({
    organizations: sql`ANY(${organizations}::text[])`,
    teams: sql`ANY(${teams}::text[])`,
    own,
    wholeUsers,
  })
}

/** The columns that an insert names; the others get their defaults. */
export function present(values: object): [string, unknown][] {
  return Object.entries(values).filter(([, value]) => value !== null && value !== undefined)
}

function holding(values: object): RawBuilder<unknown>[] {
  // No index serves IS NOT DISTINCT FROM.
  return Object.entries(values).map(([name, value]) =>
    value === null ? sql`${sql.id('record', name)} IS NULL` : sql`${sql.id('record', name)} = ${stored(value)}`,
  )
}

function assignments(values: { readonly budget_duration?: unknown }): RawBuilder<unknown>[] {
  const set = Object.entries(values).map(
    ([name, value]) => sql`${sql.id(name)} = ${value === null ? sql`DEFAULT` : stored(value)}`,
  )
  if (!('budget_duration' in values)) return set
  // A new duration starts a new period.
  return [
    ...set,
    sql`budget_started_at = CASE WHEN record.budget_duration IS DISTINCT FROM ${values.budget_duration}::text
      THEN now() ELSE record.budget_started_at END`,
  ]
}

const subjectOf = (level: string, id: string) => `${level}:${encodeURIComponent(id)}`

/** A clause that removes what the budgets of the record in `name` have spent: of one that is removed, and of one that is
 *  made what calls left that ended after one of its id was removed. */
export function withoutSpend(name: 'gone' | 'made', level: string, id: unknown): RawBuilder<unknown> {
  const subject = subjectOf(level, String(id))
  return sql`spent AS (
    DELETE FROM gateway_budget USING ${sql.id(name)}
    WHERE subject = ${subject}
      OR (subject > ${`${subject}@`} AND subject < ${`${subject}A`})
      OR (subject > ${`${subject}|`} AND subject < ${`${subject}}`})
  )`
}

const withoutEnd = (values: { readonly budget_duration?: unknown }) => values.budget_duration === null

/** Removes what was spent in a period without end before the record `before` got one with an end: another such period has
 *  no other name, and begins with nothing. */
const spentWithoutEnd = (subject: string) => sql`
  DELETE FROM gateway_budget USING before
  WHERE before.budget_duration IS NOT NULL AND period = ''
    AND (subject = ${subject} OR (subject > ${`${subject}|`} AND subject < ${`${subject}}`}))`

const BEFORE = 'before.'

function changed<Row extends object>(row: Row): Changed<Row> {
  const entries = Object.entries(row)
  return {
    record: Object.fromEntries(entries.filter(([name]) => !name.startsWith(BEFORE))) as Row,
    before: Object.fromEntries(
      entries.flatMap(([name, value]) => (name.startsWith(BEFORE) ? [[name.slice(BEFORE.length), value]] : [])),
    ) as ValuesOf<Row>,
  }
}
