import type { PasswordHasher } from '../../src/identity/passwords/password-hasher.ts'
import type { Blobs } from '../../src/stores/blobs/blobs.ts'
import type { Queue } from '../../src/stores/queue/queue.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'

const unused = async (): Promise<never> => {
  throw new Error('this test was not to touch this store')
}

/** Stores for tests of what must not touch them: anything but a ping fails the test. */
export const noSql: Sql = { query: unused, batch: unused, ping: async () => {}, close: async () => {} }
/** A database in which nothing was ever changed, and that is asked for nothing else. */
export const unchangedSql: Sql = {
  ...noSql,
  query: async (statement) => (statement.sql.includes('gateway_revision') ? { rows: [], affected: 0 } : unused()),
}
export const noBlobs: Blobs = { put: unused, get: unused, remove: unused }
export const noQueue: Queue = { send: unused }
/** Who signs in needs accounts, which nothing here keeps. */
export const noHasher: PasswordHasher = { atOnce: undefined, derive: unused }
