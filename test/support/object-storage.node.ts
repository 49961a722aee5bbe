import { DatabaseSync } from 'node:sqlite'
import type { SqlStorage } from '../../src/stores/kv/durable-object/rows.ts'

/** SQLite as the storage of a Durable Object has it. */
export function objectStorage(): SqlStorage {
  const database = new DatabaseSync(':memory:')
  // A statement that answers nothing has no rows.
  return { exec: (statement, ...values) => database.prepare(statement).all(...values) }
}
