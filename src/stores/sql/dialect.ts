import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { Schema } from './schema.ts'
import type { Database, Sql } from './sql.ts'

/** kysely over the port: every query is one statement. What needs several goes through `Sql.batch`, compiled. */
export function database(sql: Sql): Database {
  return new Kysely<Schema>({ dialect: dialect(sql) })
}

function dialect(sql: Sql): Dialect {
  const connection: DatabaseConnection = {
    async executeQuery<Row>(statement: CompiledQuery) {
      const { rows, affected } = await sql.query<Row>(statement)
      return { rows, numAffectedRows: BigInt(affected) }
    },
    streamQuery: () => unsupported('Streaming'),
  }
  return {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (on) => new PostgresIntrospector(on),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => ({
      init: async () => {},
      acquireConnection: async () => connection,
      beginTransaction: async () => unsupported('A transaction'),
      commitTransaction: async () => unsupported('A transaction'),
      rollbackTransaction: async () => unsupported('A transaction'),
      releaseConnection: async () => {},
      destroy: () => sql.close(),
    }),
  }
}

function unsupported(what: string): never {
  throw new Error(`${what} needs a connection of its own, which Postgres over HTTP has not: use Sql.batch.`)
}
