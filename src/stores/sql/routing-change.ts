/** A change that answers its row and, where there is one, moves the revision that isolates watch: one statement. */
export function routingChange(statement: string, columns: string): string {
  return `
    WITH changed AS (${statement} RETURNING ${columns}), moved AS (
      INSERT INTO gateway_revision AS known (subject, revision) SELECT 'routing', 1 FROM changed
      ON CONFLICT (subject) DO UPDATE SET revision = known.revision + 1
    )
    SELECT ${columns} FROM changed`
}
