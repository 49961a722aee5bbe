import { type RawBuilder, type Selectable, sql } from 'kysely'
import { contains } from '../contains.ts'
import { batchOf, type Query, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { routingChange } from './routing-change.ts'
import { stored } from './stored.ts'

/** The columns that every such table has in addition to its content. */
type Kept = {
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
}

const KEPT = ['version', 'created_at', 'updated_at'] as const satisfies readonly (keyof Kept)[]

/** Tables whose records are settings: each has a name, and is replaced as a whole. */
export type KeyedTableName = {
  [Name in keyof Schema]: Selectable<Schema[Name]> extends Kept ? Name : never
}[keyof Schema]

export type RowOf<Name extends KeyedTableName> = Selectable<Schema[Name]>
export type TextColumn<Row> = { [Column in keyof Row]: Row[Column] extends string ? Column : never }[keyof Row] & string
export type ContentColumn<Name extends KeyedTableName> = Exclude<keyof RowOf<Name>, keyof Kept> & string

/** A table of such records, and which of its columns are read and written. */
export interface KeyedTable<
  Name extends KeyedTableName,
  Id extends TextColumn<RowOf<Name>>,
  Column extends Exclude<ContentColumn<Name>, Id>,
> {
  readonly table: Name
  /** The column that names a record. */
  readonly id: Id
  /** Its content. */
  readonly columns: readonly Column[]
  /** Columns of text in which a search looks. */
  readonly searched: readonly TextColumn<RowOf<Name>>[]
}

/** Infers the literal names of the columns, so that reads and writes have their types. */
export function keyedTable<
  const Name extends KeyedTableName,
  const Id extends TextColumn<RowOf<Name>>,
  const Column extends Exclude<ContentColumn<Name>, Id>,
>(table: KeyedTable<Name, Id, Column>): KeyedTable<Name, Id, Column> {
  return table
}

export type KeyedContent<Table> =
  Table extends KeyedTable<infer Name, infer _Id, infer Column>
    ? { readonly [Member in Column]: Member extends keyof RowOf<Name> ? RowOf<Name>[Member] : never }
    : never

export type KeyedRecord<Table> =
  Table extends KeyedTable<infer _Name, infer Id, infer _Column>
    ? KeyedContent<Table> & { readonly [Member in Id]: string } & Kept
    : never

export interface KeyedPage<Content> {
  readonly search: string
  readonly cursor: string
  readonly limit: number
  /** Columns that must hold these values. */
  readonly where?: Partial<Content>
}

/** Records of one table. Every change is one statement, which also moves the revision that isolates watch. undefined
 *  says that nothing was changed, because the id is taken, absent, or at another version. */
export interface KeyedRecords<Row, Content> {
  /** By id. */
  all(): Promise<Row[]>
  find(id: string): Promise<Row | undefined>
  /** By id, after the cursor. */
  page(page: KeyedPage<Content>): Promise<Row[]>
  create(id: string, content: Content): Promise<Row | undefined>
  /** Without `version`, replaces any version. */
  replace(id: string, version: number | undefined, content: Content): Promise<Row | undefined>
  remove(id: string): Promise<Row | undefined>
}

/** The statement that locks what a content refers to, if it does. Every change moves the revision, and a reference is
 *  checked behind that: without the lock before it, whoever removes what is referred to would wait for the revision, and
 *  the change for the removal. */
type LockFor<Content> = (content: Content) => Query<unknown> | undefined

const AND = sql` AND `

export function keyedRecords<
  Name extends KeyedTableName,
  Id extends TextColumn<RowOf<Name>>,
  Column extends Exclude<ContentColumn<Name>, Id>,
>(
  database: Sql,
  kind: KeyedTable<Name, Id, Column>,
  lockFor: LockFor<KeyedContent<KeyedTable<Name, Id, Column>>> = () => undefined,
): KeyedRecords<KeyedRecord<KeyedTable<Name, Id, Column>>, KeyedContent<KeyedTable<Name, Id, Column>>> {
  type Row = KeyedRecord<KeyedTable<Name, Id, Column>>
  const [table, id, read] = [sql.table(kind.table), sql.id(kind.id), readColumns(kind)]
  async function one(statement: RawBuilder<Row>, lock?: Query<unknown>): Promise<Row | undefined> {
    if (!lock) return (await rowsOf(database, statement))[0]
    const [, rows] = await batchOf<[unknown, Row]>(database, [lock, statement])
    return rows[0]
  }
  return {
    all: () => rowsOf(database, sql<Row>`SELECT ${read} FROM ${table} ORDER BY ${id}`),
    find: (key) => one(sql<Row>`SELECT ${read} FROM ${table} WHERE ${id} = ${key}`),
    page: (page) => rowsOf(database, keyedPage(kind, page)),
    create: (key, content) =>
      one(
        routingChange(sql<Row>`
          INSERT INTO ${table} (${names([kind.id, ...kind.columns])})
          VALUES (${sql.join([key, ...kind.columns.map((column) => stored(content[column]))])})
          ON CONFLICT DO NOTHING RETURNING ${read}`),
        lockFor(content),
      ),
    replace(key, version, content) {
      const set = kind.columns.map((column) => sql`${sql.id(column)} = ${stored(content[column])}`)
      const same = version === undefined ? sql`` : sql` AND version = ${version}`
      return one(
        routingChange(sql<Row>`
          UPDATE ${table} SET ${sql.join(set)}, version = version + 1, updated_at = now()
          WHERE ${id} = ${key}${same} RETURNING ${read}`),
        lockFor(content),
      )
    },
    remove: (key) => one(routingChange(sql<Row>`DELETE FROM ${table} WHERE ${id} = ${key} RETURNING ${read}`)),
  }
}

/** The statement for a page of records. */
export function keyedPage<
  Name extends KeyedTableName,
  Id extends TextColumn<RowOf<Name>>,
  Column extends Exclude<ContentColumn<Name>, Id>,
>(
  kind: KeyedTable<Name, Id, Column>,
  { search, cursor, limit, where = {} }: KeyedPage<KeyedContent<KeyedTable<Name, Id, Column>>>,
): RawBuilder<KeyedRecord<KeyedTable<Name, Id, Column>>> {
  const id = sql.id(kind.id)
  const searched = sql.join(
    kind.searched.map((column) => sql.id(column)),
    sql` || ' ' || `,
  )
  const conditions = [
    sql`${id} > ${cursor}`,
    ...(search === '' ? [] : [contains(searched, search)]),
    ...Object.entries(where).map(([name, value]) => sql`${sql.id(name)} = ${value}`),
  ]
  return sql`
    SELECT ${readColumns(kind)} FROM ${sql.table(kind.table)}
    WHERE ${sql.join(conditions, AND)} ORDER BY ${id} LIMIT ${limit}`
}

function readColumns({ id, columns }: { readonly id: string; readonly columns: readonly string[] }) {
  return names([id, ...columns, ...KEPT])
}

function names(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.id(column)))
}
