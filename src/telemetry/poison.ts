import { SqlError } from '../stores/sql/sql.ts'

/** Whether an entry itself is why it could not be written: then no repetition helps. Anything else is the database's
 *  trouble, and ends. */
export function isPoison(error: unknown): boolean {
  return !(error instanceof SqlError) || /^(22|23|54)/.test(error.code ?? '')
}
