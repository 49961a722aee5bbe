import { sql } from 'kysely'
import { rowsOf } from '../../src/stores/sql/query.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'

/** The backends of a database that wait for a lock of another one. */
export async function lockWaits(database: Sql): Promise<number[]> {
  const waiting = sql<{ pid: number }>`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return (await rowsOf(database, waiting)).map(({ pid }) => pid)
}
