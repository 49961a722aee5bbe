import { type RawBuilder, sql } from 'kysely'
import { batchOf, queries, rowsOf } from '../query.ts'
import type { Sql } from '../sql.ts'

/** What proves a second factor: a time step's code under the secret that it was computed with, or a recovery code. Each
 *  proves it once. */
export type Proof =
  | { readonly kind: 'totp'; readonly sealed: string; readonly step: number }
  | { readonly kind: 'recovery_code'; readonly codeHash: string }

export interface StoredSecret {
  readonly totp_sealed: string | null
  /** It counts. Until then it is the secret of an enrollment that was started. */
  readonly enabled: boolean
}

/** The second factors of accounts. */
export interface SecondFactorRecords {
  secret(accountId: string): Promise<StoredSecret | undefined>
  /** Uses a proof up; false where it was used before, or belongs to a factor that is no more. */
  use(accountId: string, proof: Proof): Promise<boolean>
}

export function secondFactorRecords(database: Sql): SecondFactorRecords {
  return {
    async secret(accountId) {
      const [row] = await rowsOf(
        database,
        queries
          .selectFrom('gateway_account')
          .select(['totp_sealed', sql<boolean>`totp_confirmed_at IS NOT NULL`.as('enabled')])
          .where('account_id', '=', accountId),
      )
      return row
    },
    async use(accountId, proof) {
      const step = sql`totp_step = greatest(account.totp_step, ${stepOf(proof)})`
      const statement = sql<{ account_id: string }>`
        WITH ${proved(accountId, proof, step)} SELECT account_id FROM proved`
      const [, rows] = await batchOf<[unknown, unknown]>(database, [locked(accountId), statement])
      return rows.length > 0
    },
  }
}

/** Goes before a statement that changes an account's factor, in one batch with it: a statement sees what was there when it
 *  began, and this one has to see what the changes before it have left. */
function locked(accountId: string): RawBuilder<unknown> {
  return sql`SELECT FROM gateway_account WHERE account_id = ${accountId} FOR UPDATE`
}

/** The beginning of a statement that uses a proof up, and changes the account with it: `proved` has a row where the proof
 *  was good. */
function proved(accountId: string, proof: Proof, changes: RawBuilder<unknown>): RawBuilder<unknown> {
  const isGood =
    proof.kind === 'totp'
      ? sql`account.totp_sealed = ${proof.sealed} AND account.totp_step < ${proof.step}`
      : sql`EXISTS (SELECT FROM used)`
  return sql`
    used AS (
      DELETE FROM gateway_recovery_code
      WHERE account_id = ${accountId} AND code_hash = ${proof.kind === 'totp' ? null : proof.codeHash}::text
      RETURNING code_hash
    ),
    proved AS (
      UPDATE gateway_account AS account SET ${changes}
      WHERE account.account_id = ${accountId} AND account.totp_confirmed_at IS NOT NULL AND ${isGood}
      RETURNING account.account_id, account.version
    )`
}

function stepOf(proof: Proof): number {
  return proof.kind === 'totp' ? proof.step : 0
}
