import { type RawBuilder, sql } from 'kysely'
import { batchOf, type Query, rowsOf } from '../query.ts'
import { NEXT_VERSION } from '../records/scope-records.ts'
import type { Sql } from '../sql.ts'
import { type Given, isOpen } from './given.ts'

/** An account after a reset of its password. */
export interface ResetPassword {
  readonly account_id: string
  readonly email: string
  readonly version: string
}

export interface PendingReset {
  readonly email: string
  readonly expires_at: string
}

/** New passwords. Each gives its account a new version, and ends its sessions and its tokens for resetting. */
export interface PasswordRecords {
  /** Clauses for opening a session: change the account's password, if it is still the former one, and end the account's
   *  other sessions. */
  changing(change: { readonly accountId: string; readonly from: string; readonly to: string }, sessionId: string): Given
  /** Stores a token for a reset, together with the e-mail that carries it. */
  allow(token: { readonly token_hash: string; readonly account_id: string }, telling?: Query<unknown>): Promise<void>
  /** undefined: there is no such token, it has ended, or its account is not active. */
  pending(tokenHash: string): Promise<PendingReset | undefined>
  /** Uses a token up. One of several simultaneous attempts succeeds. */
  reset(tokenHash: string, to: string): Promise<ResetPassword | undefined>
  /** Removes tokens that ended long ago. */
  sweep(): Promise<void>
}

export const RESET_MINUTES = 60

const isPending = sql<boolean>`reset.used_at IS NULL AND reset.expires_at > now()`

export function passwordRecords(database: Sql): PasswordRecords {
  return {
    changing: ({ accountId, from, to }, sessionId) => ({
      accountId,
      clauses: sql`
        owner AS (
          SELECT account_id FROM gateway_account
          WHERE account_id = ${accountId} AND state = 'active' AND password_hash = ${from} AND ${isOpen(sessionId)}
        ),
        ${settingPassword(to, { session: sessionId })}`,
    }),
    async allow({ token_hash, account_id }, telling) {
      const allowing = sql`
        INSERT INTO gateway_password_reset (token_hash, account_id, expires_at)
        VALUES (${token_hash}, ${account_id}, now() + make_interval(mins => ${sql.lit(RESET_MINUTES)}))`
      await batchOf<readonly Query<unknown>[]>(database, telling ? [allowing, telling] : [allowing])
    },
    async pending(tokenHash) {
      const [row] = await rowsOf(
        database,
        sql<PendingReset>`
          SELECT account.email, reset.expires_at
          FROM gateway_password_reset AS reset JOIN gateway_account AS account USING (account_id)
          WHERE reset.token_hash = ${tokenHash} AND ${isPending} AND account.state = 'active'`,
      )
      return row
    },
    async reset(tokenHash, to) {
      // The account is locked first, as by every change of it: of all who wait one finds the token unused, and a session
      // that was opened meanwhile ends with the others.
      const lock = sql`
        SELECT FROM gateway_account AS account JOIN gateway_password_reset AS named USING (account_id)
        WHERE named.token_hash = ${tokenHash} FOR UPDATE OF account`
      const reset = sql<ResetPassword>`
        WITH owner AS (
          UPDATE gateway_password_reset AS reset SET used_at = now() FROM gateway_account AS account
          WHERE reset.token_hash = ${tokenHash} AND ${isPending} AND account.account_id = reset.account_id
            AND account.state = 'active'
          RETURNING reset.account_id
        ),
        ${settingPassword(to, { token: tokenHash })}
        SELECT account_id, email, version FROM given`
      const [, [changed]] = await batchOf<[unknown, ResetPassword]>(database, [lock, reset])
      return changed
    },
    async sweep() {
      await rowsOf(database, sql`DELETE FROM gateway_password_reset WHERE expires_at < now() - interval '1 day'`)
    },
  }
}

/** Clauses after `owner`: give its account the password, and end its sessions and reset tokens, except the named one. */
function settingPassword(
  to: string,
  { session = '', token = '' }: { readonly session?: string; readonly token?: string },
): RawBuilder<unknown> {
  return sql`
    given AS (
      UPDATE gateway_account AS account
      SET password_hash = ${to}, password_changed_at = now(), must_change_password = false,
        email_proved = account.email_proved OR ${token !== ''}, version = ${NEXT_VERSION}, updated_at = now()
      FROM owner WHERE account.account_id = owner.account_id
      RETURNING account.account_id, account.email, account.version
    ),
    tokens AS (
      DELETE FROM gateway_password_reset AS reset USING given
      WHERE reset.account_id = given.account_id AND reset.token_hash <> ${token}
    ),
    others AS (
      UPDATE gateway_session AS session SET ended_at = now(), version = ${NEXT_VERSION} FROM given
      WHERE session.account_id = given.account_id AND session.ended_at IS NULL AND session.session_id <> ${session}
    )`
}
