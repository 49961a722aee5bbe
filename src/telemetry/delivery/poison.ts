import { SqlError } from '../../stores/sql/sql.ts'

/** Whether an entry failed because of its content, so that no retry helps. Any other failure is the database's and
 *  temporary. */
export function isPoison(error: unknown): boolean {
  return !(error instanceof SqlError) || /^(22|23|54)/.test(error.code ?? '')
}
