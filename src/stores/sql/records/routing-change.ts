/** A change that answers its row and, where there is one, moves the revision that isolates watch: one statement. What
 *  goes with it can be written beside it, from `changed`. */
export function routingChange(statement: string, columns: string, beside?: string): string {
  return `
    WITH changed AS (${statement} RETURNING ${columns}), ${beside === undefined ? '' : `${beside}, `}moved AS (
      INSERT INTO gateway_revision AS known (subject, revision) SELECT 'routing', 1 FROM changed
      ON CONFLICT (subject) DO UPDATE SET revision = known.revision + 1
    )
    SELECT ${columns} FROM changed`
}
