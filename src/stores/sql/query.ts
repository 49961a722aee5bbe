import {
  type CompiledQuery,
  DefaultQueryExecutor,
  PostgresAdapter,
  PostgresQueryCompiler,
  QueryCreator,
  type QueryExecutorProvider,
} from 'kysely'
import type { Schema } from './schema/schema.ts'
import type { Sql, Statement } from './sql.ts'

const executor = new DefaultQueryExecutor(new PostgresQueryCompiler(), new PostgresAdapter(), {
  provideConnection: () => Promise.reject(new TypeError('statements are run by the port')),
})
const compiler: QueryExecutorProvider = { getExecutor: () => executor }

/** Builds statements. It does not run them: the port does. */
export const queries = new QueryCreator<Schema>({ executor })

/** A statement of the builder or of kysely's `sql` template, with the type of its rows. */
export interface Query<Row> {
  compile(provider: QueryExecutorProvider): CompiledQuery<Row>
}

export function statementOf(query: Query<unknown>): Statement {
  const { sql, parameters } = query.compile(compiler)
  return { sql, parameters }
}

export async function rowsOf<Row>(database: Sql, query: Query<Row>): Promise<Row[]> {
  return (await database.query<Row>(statementOf(query))).rows
}

/** Runs statements atomically and in order, in one round trip; resolves with the rows of each. */
export async function batchOf<Rows extends readonly unknown[]>(
  database: Sql,
  batch: { readonly [Index in keyof Rows]: Query<Rows[Index]> },
): Promise<{ -readonly [Index in keyof Rows]: Rows[Index][] }> {
  const results = await database.batch(batch.map(statementOf))
  return results.map(({ rows }) => rows) as { -readonly [Index in keyof Rows]: Rows[Index][] }
}
