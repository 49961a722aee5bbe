import { describe, inject } from 'vitest'
import { neonSql } from '../../src/stores/sql/adapters/neon.ts'
import { remoteSqlContract, sqlContract } from './sql.ts'

const connectionString = inject('postgresUrl')
const fetchEndpoint = inject('postgresHttpUrl')

describe.skipIf(fetchEndpoint === '')('sql: neon over HTTP', () => {
  sqlContract(async () => neonSql({ connectionString, fetchEndpoint }))
  remoteSqlContract(connectionString, (url, timeoutMs) =>
    neonSql({
      connectionString: url,
      fetchEndpoint: url === connectionString ? fetchEndpoint : 'http://127.0.0.1:1/sql',
      timeoutMs,
    }),
  )
})
