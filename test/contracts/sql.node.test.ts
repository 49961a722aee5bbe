import { describe, inject } from 'vitest'
import { nodePostgresSql } from '../../src/stores/sql/adapters/node-postgres.node.ts'
import { pgliteSql } from '../../src/stores/sql/adapters/pglite.node.ts'
import { remoteSqlContract, sqlContract } from './sql.ts'

const connectionString = inject('postgresUrl')

describe.skipIf(connectionString === '')('sql: node-postgres', () => {
  sqlContract(async () => nodePostgresSql({ connectionString }))
  remoteSqlContract(connectionString, (url, timeoutMs) => nodePostgresSql({ connectionString: url, timeoutMs }))
})

describe('sql: PGlite', () => {
  sqlContract(() => pgliteSql())
})
