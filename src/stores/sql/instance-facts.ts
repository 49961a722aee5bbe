import { sql } from 'kysely'
import { batchOf } from './query.ts'
import type { Sql } from './sql.ts'

export interface InstanceFacts {
  readonly server_version: string
  readonly schema: { readonly version: string; readonly applied_at: string } | undefined
  /** Work that waits in the database; counted to `MOST_COUNTED`. */
  readonly queue: { readonly waiting: number; readonly dead: number; readonly oldest_sent_at: string | null }
}

const MOST_COUNTED = 10_000

/** Reads the facts of the installation that the database knows. */
export async function instanceFacts(database: Sql): Promise<InstanceFacts> {
  const [[server], [schema], [queue]] = await batchOf<
    [{ server_version: string }, { version: string; applied_at: string }, InstanceFacts['queue']]
  >(database, [
    sql`SELECT current_setting('server_version') AS server_version`,
    sql`SELECT version, applied_at FROM gateway_schema ORDER BY applied_at DESC LIMIT 1`,
    sql`
      SELECT count(*) FILTER (WHERE dead_at IS NULL)::int AS waiting, count(dead_at)::int AS dead,
        min(sent_at) FILTER (WHERE dead_at IS NULL) AS oldest_sent_at
      FROM (SELECT dead_at, sent_at FROM gateway_queue LIMIT ${MOST_COUNTED}) AS message`,
  ])
  const { server_version = '' } = server ?? {}
  return { server_version, schema, queue: queue ?? { waiting: 0, dead: 0, oldest_sent_at: null } }
}
