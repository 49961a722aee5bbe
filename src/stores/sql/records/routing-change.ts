import { type OperationNodeSource, type RawBuilder, sql } from 'kysely'
import type { Query } from '../query.ts'

/** One statement for a change that returns its row and, if there is one, increases the revision that isolates watch.
 *  `beside` may write further rows from `changed`. */
export function routingChange<Row>(change: Query<Row> & OperationNodeSource, beside = sql``): RawBuilder<Row> {
  return sql<Row>`
    WITH changed AS (${change}), ${beside} moved AS (
      INSERT INTO gateway_revision AS known (subject, revision) SELECT 'routing', 1 FROM changed
      ON CONFLICT (subject) DO UPDATE SET revision = known.revision + 1
    )
    SELECT * FROM changed`
}
