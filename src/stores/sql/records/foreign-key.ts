import { SqlError } from '../sql.ts'

const FOREIGN_KEY_VIOLATION = '23503'

/** The column whose foreign key a statement broke: it named a record that is not there, or removed one that is needed.
 *  Postgres names the constraint `<table>_<column>_fkey`. */
export function brokenForeignKey(error: unknown): { readonly table: string; readonly column: string } | undefined {
  if (!(error instanceof SqlError) || error.code !== FOREIGN_KEY_VIOLATION) return undefined
  const [, table, column] = /"(gateway_[a-z]+)_(\w+)_fkey"/.exec(error.message) ?? []
  return table === undefined || column === undefined ? undefined : { table, column }
}
