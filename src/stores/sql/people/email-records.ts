import { type RawBuilder, type Selectable, sql } from 'kysely'
import { type Query, queries, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'

/** An e-mail as an administrator sees it: never what it says. */
export type EmailRecord = Omit<Selectable<Schema['gateway_email']>, 'sealed'>

/** An e-mail that is to be sent. */
export interface NewEmail extends Pick<EmailRecord, 'email_id' | 'kind' | 'recipient' | 'organization_id'> {
  readonly sealed: string
}

/** An e-mail that this process alone may send until its lease ends. */
export interface ClaimedEmail extends Pick<EmailRecord, 'email_id' | 'kind' | 'recipient' | 'attempts'> {
  readonly sealed: string
}

/** E-mails on their way. */
export interface EmailRecords {
  /** The statement that puts an e-mail into the outbox, if the condition holds. */
  insertion(email: NewEmail, onlyIf?: RawBuilder<boolean>): Query<unknown>
  /** Leases e-mails that are due, the longest due first. Without an outcome they are due again when the lease ends. */
  claim(limit: number, leaseSeconds: number): Promise<ClaimedEmail[]>
  /** Also forgets its content. Does nothing if the lease was lost to a later claim. */
  sent(claim: ClaimedEmail): Promise<void>
  /** Makes it due again after `retrySeconds`; without them gives it up and forgets its content. Does nothing if the
   *  lease was lost to a later claim. */
  failed(claim: ClaimedEmail, error: string, retrySeconds: number | undefined): Promise<void>
  /** The newest first, after the cursor. */
  page(page: {
    readonly state: EmailRecord['state'] | undefined
    readonly cursor: string
    readonly limit: number
  }): Promise<EmailRecord[]>
  /** Gives up e-mails that could not be sent for a day, and removes those older than thirty days. */
  sweep(): Promise<void>
}

const COLUMNS = [
  'email_id',
  'kind',
  'recipient',
  'state',
  'attempts',
  'due_at',
  'last_error',
  'organization_id',
  'created_at',
  'sent_at',
] as const

const KEPT_DAYS = 30

export function emailRecords(database: Sql): EmailRecords {
  const lastClaim = ({ email_id, attempts }: ClaimedEmail) =>
    queries
      .updateTable('gateway_email')
      .where('email_id', '=', email_id)
      .where('state', '=', 'queued')
      .where('attempts', '=', attempts)
  return {
    insertion: ({ email_id, kind, recipient, organization_id, sealed }, onlyIf = sql<boolean>`true`) => sql`
      INSERT INTO gateway_email (email_id, kind, recipient, organization_id, sealed)
      SELECT ${email_id}, ${kind}, ${recipient}, ${organization_id}, ${sealed} WHERE ${onlyIf}`,
    claim: (limit, leaseSeconds) =>
      rowsOf(
        database,
        sql<ClaimedEmail>`
          WITH due AS (
            SELECT email_id FROM gateway_email WHERE state = 'queued' AND due_at <= now()
            ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
          )
          UPDATE gateway_email AS email
          SET attempts = email.attempts + 1, due_at = now() + make_interval(secs => ${leaseSeconds})
          FROM due WHERE email.email_id = due.email_id
          RETURNING email.email_id, email.kind, email.recipient, email.attempts, email.sealed`,
      ),
    async sent(claim) {
      const now = sql<string>`now()`
      await rowsOf(database, lastClaim(claim).set({ state: 'sent', sent_at: now, sealed: null, last_error: null }))
    },
    async failed(claim, error, retrySeconds) {
      const change =
        retrySeconds === undefined
          ? { state: 'failed' as const, sealed: null }
          : { due_at: sql<string>`now() + make_interval(secs => ${retrySeconds})` }
      await rowsOf(database, lastClaim(claim).set({ ...change, last_error: error }))
    },
    page({ state, cursor, limit }) {
      const all = queries.selectFrom('gateway_email').select(COLUMNS).orderBy('email_id', 'desc').limit(limit)
      const after = cursor === '' ? all : all.where('email_id', '<', cursor)
      return rowsOf(database, state === undefined ? after : after.where('state', '=', state))
    },
    async sweep() {
      const stale = queries
        .updateTable('gateway_email')
        .set({ state: 'failed', sealed: null, last_error: sql`coalesce(last_error, 'could not be sent for a day')` })
        .where('state', '=', 'queued')
        .where('created_at', '<', sql<string>`now() - interval '1 day'`)
      const old = queries
        .deleteFrom('gateway_email')
        .where('created_at', '<', sql<string>`now() - make_interval(days => ${sql.lit(KEPT_DAYS)})`)
      await rowsOf(database, stale)
      await rowsOf(database, old)
    },
  }
}
