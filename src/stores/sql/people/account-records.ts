import { type Selectable, sql } from 'kysely'
import { batchOf, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { ACCOUNT_TURN } from './account-turn.ts'
import { emailKey } from './email-key.ts'

/** An account with everything but what proves a person: never the password's hash or the second factor's secret. */
export interface AccountRecord
  extends Pick<
    Selectable<Schema['gateway_account']>,
    | 'account_id'
    | 'user_id'
    | 'email'
    | 'email_proved'
    | 'platform_role'
    | 'state'
    | 'must_change_password'
    | 'last_login_at'
    | 'password_changed_at'
    | 'version'
    | 'created_at'
    | 'updated_at'
  > {
  readonly has_password: boolean
  readonly mfa_enabled: boolean
}

/** A person's ways to prove who they are. */
export interface Credentials extends AccountRecord {
  readonly password_hash: string | null
}

/** An account to create, with its user row. */
export interface NewAccount {
  readonly account_id: string
  readonly user_id: string
  readonly email: string
  readonly platform_role: AccountRecord['platform_role']
  readonly password_hash: string | null
  readonly must_change_password: boolean
  /** Only while there is no account at all. */
  readonly onlyFirst?: boolean
}

/** The accounts of people. Every change gives the account a new version. */
export interface AccountRecords {
  /** Whether there is any account. */
  any(): Promise<boolean>
  /** By e-mail address, whatever its case. */
  credentials(email: string): Promise<Credentials | undefined>
  /** Creates it with its user row. undefined if the address has an account, or if `onlyFirst` and there is any. */
  create(account: NewAccount): Promise<AccountRecord | undefined>
}

/** The columns of an account record, by the name that the statement gives the table. */
export const accountColumns = (table: string) => {
  const account = sql.table(table)
  return sql`${account}.account_id, ${account}.user_id, ${account}.email, ${account}.email_proved, ${account}.platform_role,
  ${account}.state, ${account}.must_change_password, ${account}.last_login_at, ${account}.password_changed_at, ${account}.version,
  ${account}.created_at, ${account}.updated_at, ${account}.password_hash IS NOT NULL AS has_password,
  ${account}.totp_confirmed_at IS NOT NULL AS mfa_enabled`
}

export function accountRecords(database: Sql): AccountRecords {
  return {
    async any() {
      const [row] = await rowsOf(database, sql<{ any: boolean }>`SELECT EXISTS (SELECT FROM gateway_account) AS "any"`)
      return row?.any === true
    },
    async credentials(email) {
      const [row] = await rowsOf(
        database,
        sql<Credentials>`
          SELECT ${accountColumns('account')}, account.password_hash FROM gateway_account AS account
          WHERE account.email_key = ${emailKey(email)}`,
      )
      return row
    },
    async create({ onlyFirst = false, ...account }) {
      const insertion = sql<AccountRecord>`
        WITH account AS (
          INSERT INTO gateway_account AS account
            (account_id, user_id, email, email_key, email_proved, platform_role, password_hash, password_changed_at,
              must_change_password)
          SELECT ${account.account_id}, ${account.user_id}, ${account.email}, ${emailKey(account.email)}, true,
            ${account.platform_role}, ${account.password_hash}::text,
            CASE WHEN ${account.password_hash}::text IS NOT NULL THEN now() END, ${account.must_change_password}
          WHERE NOT ${onlyFirst} OR NOT EXISTS (SELECT FROM gateway_account)
          ON CONFLICT (email_key) DO NOTHING
          RETURNING ${accountColumns('account')}
        ),
        person AS (
          INSERT INTO gateway_user (user_id, user_email) SELECT user_id, email FROM account
        )
        SELECT * FROM account`
      const [, [row]] = await batchOf<[unknown, AccountRecord]>(database, [ACCOUNT_TURN, insertion])
      return row
    },
  }
}
