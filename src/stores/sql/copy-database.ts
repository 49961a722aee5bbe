import { sql as text } from 'kysely'
import { batchOf, queries, rowsOf } from './query.ts'
import { COPY_BEGUN, SALT_FINGERPRINT } from './schema/same-salt.ts'
import type { Sql } from './sql.ts'

interface Table {
  readonly name: string
  readonly columns: readonly string[]
}

/** Copies everything of a gateway's database into another one with the same schema, on which no gateway has been started;
 *  what an interrupted copy has left there goes. Nothing else may write to either of them. `copied` is told of each table
 *  with rows. Resolves with false, and changes nothing, if gateways have been started on the other one. */
export async function copyDatabase(
  from: Sql,
  to: Sql,
  copied: (table: string, rows: number) => void,
): Promise<boolean> {
  const marks = await rowsOf(to, queries.selectFrom('gateway_installation').select('name'))
  const has = (mark: string) => marks.some(({ name }) => name === mark)
  if (has(SALT_FINGERPRINT) && !has(COPY_BEGUN)) return false
  // A table was made after those that it refers to. What says whose the database is comes last of all.
  const tables = await rowsOf(
    to,
    text<Table>`
      SELECT relname AS name, (
        SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped) AS columns
      FROM pg_class
      WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname LIKE 'gateway\\_%'
      ORDER BY relname = 'gateway_installation', oid`,
  )
  await batchOf(to, [
    text`TRUNCATE ${text.join(tables.map(({ name }) => text.id(name)))}`,
    // Until the end, so that no gateway starts on a part.
    queries.insertInto('gateway_installation').values({ name: COPY_BEGUN, value: '' }),
  ])
  const sequences = await rowsOf(
    from,
    text<{ name: string; value: string }>`
      SELECT sequencename AS name, last_value AS value FROM pg_sequences
      WHERE schemaname = current_schema() AND sequencename LIKE 'gateway\\_%' AND last_value IS NOT NULL`,
  )
  await batchOf(
    to,
    sequences.map(({ name, value }) => text`SELECT setval(${name}::text::regclass, ${value}::bigint)`),
  )
  for (const table of tables) {
    const rows = await copyTable(from, to, table)
    if (rows > 0) copied(table.name, rows)
  }
  await rowsOf(to, queries.deleteFrom('gateway_installation').where('name', '=', COPY_BEGUN))
  return true
}

/** Rows travel as texts of PostgreSQL, in which every value is exact. The columns of an older database are in another
 *  order. They are read block by block: a block holds few rows, and results of batches may have a megabyte each. */
async function copyTable(from: Sql, to: Sql, { name, columns }: Table): Promise<number> {
  const table = text.id(name)
  const row = text.join(columns.map((column) => text.id(column)))
  const [size] = await rowsOf(
    from,
    text<{ blocks: number }>`
      SELECT (pg_relation_size(${name}::text::regclass) / current_setting('block_size')::int)::int AS blocks`,
  )
  let count = 0
  for (let block = 0; block < (size?.blocks ?? 0); block++) {
    const rows = await rowsOf(
      from,
      text<{ row: string }>`
        SELECT ROW(${row})::text AS row FROM ${table}
        WHERE ctid >= ${`(${block},0)`}::tid AND ctid < ${`(${block + 1},0)`}::tid`,
    )
    if (rows.length === 0) continue
    await batchOf(to, [
      text`
        INSERT INTO ${table} OVERRIDING SYSTEM VALUE
        SELECT (one.row).* FROM (SELECT row::${table} FROM unnest(${rows.map((one) => one.row)}::text[]) AS row OFFSET 0) AS one`,
    ])
    count += rows.length
  }
  return count
}
