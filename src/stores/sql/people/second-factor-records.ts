import { type RawBuilder, sql } from 'kysely'
import { batchOf, queries, rowsOf } from '../query.ts'
import { NEXT_VERSION } from '../records/scope-records.ts'
import type { Sql } from '../sql.ts'
import { accountLock, type Given, isOpen } from './given.ts'

/** What proves a second factor: a time step's code under the secret that it was computed with, or a recovery code. Each
 *  proves it once. */
export type Proof =
  | { readonly kind: 'totp'; readonly sealed: string; readonly step: number }
  | { readonly kind: 'recovery_code'; readonly codeHash: string }

export interface StoredSecret {
  readonly totp_sealed: string | null
  /** The secret is active; false for that of an unfinished enrollment. */
  readonly enabled: boolean
}

/** An account without a second factor. */
export interface ResetAccount {
  readonly version: string
  /** The sessions that it ended. */
  readonly ended: readonly { readonly session_id: string; readonly version: number }[]
}

/** The second factors of accounts. Changes of one account take turns. */
export interface SecondFactorRecords {
  secret(accountId: string): Promise<StoredSecret | undefined>
  /** Uses a proof up; false if it was used before, or its factor was removed. */
  use(accountId: string, proof: Proof): Promise<boolean>
  /** The same, and opens a session in the same statement. */
  using(accountId: string, proof: Proof, sessionId: string): Given
  /** Stores the secret of an enrollment, replacing that of an earlier one. False: the account has a factor. */
  start(accountId: string, sealed: string): Promise<boolean>
  /** Makes the secret count that a step's code was computed with, together with the session that is opened because of
   *  it. No other session of the account is verified any more. */
  enabling(
    accountId: string,
    enabled: { readonly sealed: string; readonly step: number; readonly codeHashes: readonly string[] },
    sessionId: string,
  ): Given
  /** Removes the factor. Resolves with the account's new version, or undefined if the proof is not valid. */
  disable(accountId: string, proof: Proof): Promise<string | undefined>
  /** Replaces the recovery codes; false if the proof is not valid. */
  renew(accountId: string, proof: Proof, codeHashes: readonly string[]): Promise<boolean>
  /** Removes the factor without a proof, and ends the account's sessions. undefined: there is no such account. */
  reset(accountId: string): Promise<ResetAccount | undefined>
}

const WITHOUT = sql`totp_sealed = NULL, totp_confirmed_at = NULL, totp_step = 0, version = ${NEXT_VERSION},
  updated_at = now()`

export function secondFactorRecords(database: Sql): SecondFactorRecords {
  /** In the account's turn: a statement sees what was there when it began, and has to see what was changed before it. */
  async function inTurn<Row>(accountId: string, statement: RawBuilder<Row>): Promise<Row | undefined> {
    const [, [row]] = await batchOf<[unknown, Row]>(database, [accountLock(accountId), statement])
    return row
  }

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
      const clauses = proved(accountId, proof, stepped(proof))
      return (await inTurn(accountId, sql`WITH ${clauses} SELECT account_id FROM given`)) !== undefined
    },
    using: (accountId, proof, sessionId) => ({
      accountId,
      clauses: proved(accountId, proof, stepped(proof), isOpen(sessionId)),
    }),
    async start(accountId, sealed) {
      const [row] = await rowsOf(
        database,
        queries
          .updateTable('gateway_account')
          .set({ totp_sealed: sealed, totp_step: 0, updated_at: sql<string>`now()` })
          .where('account_id', '=', accountId)
          .where('totp_confirmed_at', 'is', null)
          .returning('account_id'),
      )
      return row !== undefined
    },
    enabling: (accountId, { sealed, step, codeHashes }, sessionId) => ({
      accountId,
      clauses: sql`
        given AS (
          UPDATE gateway_account SET totp_confirmed_at = now(), totp_step = ${step}, version = ${NEXT_VERSION},
            updated_at = now()
          WHERE account_id = ${accountId} AND totp_confirmed_at IS NULL AND totp_sealed = ${sealed}
            AND ${isOpen(sessionId)}
          RETURNING account_id, version
        ),
        unverified AS (
          UPDATE gateway_session AS session SET mfa_verified = false FROM given
          WHERE session.account_id = given.account_id AND session.ended_at IS NULL
            AND session.session_id <> ${sessionId}
        ),
        ${renewed(codeHashes)}`,
    }),
    async disable(accountId, proof) {
      const clauses = sql`${proved(accountId, proof, WITHOUT)}, ${renewed([])}`
      return (await inTurn(accountId, sql<{ version: string }>`WITH ${clauses} SELECT version FROM given`))?.version
    },
    async renew(accountId, proof, codeHashes) {
      const clauses = sql`${proved(accountId, proof, stepped(proof))}, ${renewed(codeHashes)}`
      return (await inTurn(accountId, sql`WITH ${clauses} SELECT account_id FROM given`)) !== undefined
    },
    reset: (accountId) =>
      inTurn(
        accountId,
        sql<ResetAccount>`
          WITH given AS (
            UPDATE gateway_account SET ${WITHOUT} WHERE account_id = ${accountId} RETURNING account_id, version
          ),
          ${renewed([])},
          ended AS (
            UPDATE gateway_session AS session SET ended_at = now(), version = ${NEXT_VERSION} FROM given
            WHERE session.account_id = given.account_id AND session.ended_at IS NULL
            RETURNING session.session_id, session.version
          )
          SELECT version, (SELECT coalesce(json_agg(ended), '[]') FROM ended) AS ended FROM given`,
      ),
  }
}

/** Clauses that use a proof up and change the account: `given` has a row if the proof is valid. */
function proved(
  accountId: string,
  proof: Proof,
  changes: RawBuilder<unknown>,
  only: RawBuilder<boolean> = sql`true`,
): RawBuilder<unknown> {
  const isGood =
    proof.kind === 'totp'
      ? sql`account.totp_sealed = ${proof.sealed} AND account.totp_step < ${proof.step}`
      : sql`EXISTS (SELECT FROM used)`
  return sql`
    used AS (
      DELETE FROM gateway_recovery_code
      WHERE account_id = ${accountId} AND code_hash = ${proof.kind === 'totp' ? null : proof.codeHash}::text AND ${only}
      RETURNING code_hash
    ),
    given AS (
      UPDATE gateway_account AS account SET ${changes}
      WHERE account.account_id = ${accountId} AND account.totp_confirmed_at IS NOT NULL AND ${isGood} AND ${only}
      RETURNING account.account_id, account.version
    )`
}

function stepped(proof: Proof): RawBuilder<unknown> {
  return sql`totp_step = greatest(account.totp_step, ${proof.kind === 'totp' ? proof.step : 0})`
}

/** Clauses after `given` that replace the recovery codes. */
function renewed(codeHashes: readonly string[]): RawBuilder<unknown> {
  return sql`
    former AS (DELETE FROM gateway_recovery_code AS code USING given WHERE code.account_id = given.account_id),
    codes AS (
      INSERT INTO gateway_recovery_code (account_id, code_hash)
      SELECT given.account_id, code.hash FROM given, unnest(${[...codeHashes]}::text[]) AS code (hash)
    )`
}
