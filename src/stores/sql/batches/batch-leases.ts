import { type RawBuilder, sql } from 'kysely'
import { rowsOf } from '../query.ts'
import type { Sql } from '../sql.ts'

/** The lease of one process on the validation or the finishing of a batch. Only its token may write that; all times are
 *  the database's. */
export interface BatchLease {
  readonly batchId: string
  readonly token: string
}

export interface BatchLeases {
  /** Resolves with false if the lease is no longer this one's: it ran out, or the batch went on without it. */
  renew(lease: BatchLease): Promise<boolean>
  /** Lets another process, or this one, go on: at once or, after a failure, the later the longer it has been failing. */
  giveBack(lease: BatchLease, after: 'stop' | 'failure'): Promise<void>
}

export const LEASE_SECONDS = 30

/** The end of a lease that begins or is renewed now. */
export const leaseEnd = sql<string>`now() + make_interval(secs => ${LEASE_SECONDS})`

/** The condition that a batch is not leased. */
export const unleased = sql<boolean>`(lease_until IS NULL OR lease_until <= now())`

/** The condition that a batch is under this lease. */
export const under = ({ batchId, token }: BatchLease): RawBuilder<boolean> =>
  sql<boolean>`batch_id = ${batchId} AND lease_token = ${token}`

export function batchLeases(database: Sql): BatchLeases {
  return {
    async renew(lease) {
      const renewal = sql`UPDATE gateway_batch SET lease_until = ${leaseEnd} WHERE ${under(lease)} RETURNING batch_id`
      return (await rowsOf(database, renewal)).length > 0
    },
    async giveBack(lease, after) {
      const since = sql`coalesce(cancelling_at, finalizing_at, created_at)`
      const pause = sql`now() + least(interval '1 minute', greatest(interval '1 second', (now() - ${since}) / 4))`
      const until = after === 'stop' ? sql`NULL` : pause
      await rowsOf(
        database,
        sql`UPDATE gateway_batch SET lease_token = NULL, lease_until = ${until} WHERE ${under(lease)}`,
      )
    },
  }
}
