import { type RawBuilder, sql } from 'kysely'
import { contains } from '../contains.ts'
import { batchOf, rowsOf } from '../query.ts'
import type { Reach } from '../records/reach.ts'
import { NEXT_VERSION, reachable } from '../records/scope-records.ts'
import { withinUser } from '../records/user-records.ts'
import { currentSpend } from '../scopes/current-spend.ts'
import { type Sql, SqlError, UNIQUE_VIOLATION } from '../sql.ts'
import { type AccountRecord, accountColumns } from './account-records.ts'
import { ACCOUNT_TURN } from './account-turn.ts'
import { emailKey } from './email-key.ts'
import { accountLock } from './given.ts'

/** An account as administrators see it. */
export interface AdministeredAccount extends AccountRecord {
  readonly user_name: string | null
  readonly max_budget: number | null
  readonly budget_duration: string | null
  /** Of the person, with all keys, in the period of the budget that is now: dollars. */
  readonly spend: number
  /** The kinds of identity providers that are linked. */
  readonly identities: readonly string[]
  readonly memberships: readonly {
    readonly scope: 'organization' | 'team'
    readonly id: string
    readonly name: string | null
    readonly role: string
    /** The organization itself, or that of the team. */
    readonly organization_id: string | null
  }[]
}

export interface AccountFilters {
  readonly search: string
  readonly state?: AccountRecord['state'] | undefined
  readonly platform_role?: AccountRecord['platform_role'] | undefined
  readonly mfa_enabled?: boolean | undefined
  /** Of which, or of a team of which, the person is a member. */
  readonly organization_id?: string | undefined
  readonly team_id?: string | undefined
}

/** What administrators may write. */
export interface AccountChange {
  readonly email?: string | undefined
  readonly platform_role?: AccountRecord['platform_role'] | undefined
  readonly state?: AccountRecord['state'] | undefined
  readonly must_change_password?: boolean | undefined
  readonly email_proved?: boolean | undefined
}

/** A key that the account owns, and that is refused while the account is not active. */
export interface OwnedKey {
  readonly key_id: string
  readonly key_hash: string
  readonly version: number
}

export interface ChangedAccount {
  readonly account: AccountRecord
  readonly before: Required<AccountChange>
  readonly keys: readonly OwnedKey[]
}

export interface RemovedAccount {
  readonly account: Pick<AccountRecord, 'account_id' | 'user_id' | 'email' | 'platform_role'>
  /** The account's and its user's last versions. */
  readonly version: string
  readonly keys: readonly OwnedKey[]
}

/** The administration of accounts. The last active administrator of the platform cannot be demoted, disabled or removed;
 *  changes that could do so are serialised. */
export interface AdministeredAccounts {
  find(accountId: string, reach: Reach): Promise<AdministeredAccount | undefined>
  /** By account, after the cursor. */
  page(
    page: { readonly reach: Reach; readonly cursor: string; readonly limit: number } & AccountFilters,
  ): Promise<AdministeredAccount[]>
  /** A change of the role or the state ends the account's sessions. Disabling it, or another address, ends its links for a
   *  new password; another address is not proved. undefined: there is no such account. */
  change(accountId: string, change: AccountChange): Promise<ChangedAccount | 'last_admin' | 'address_taken' | undefined>
  /** Removes the account, its memberships and its sessions, revokes the keys that it owns, and cancels the invitations to
   *  its address, through which the person would be back. Its user stays. */
  remove(accountId: string): Promise<RemovedAccount | 'last_admin' | undefined>
}

const COLUMNS = accountColumns('record')
const SPENT = currentSpend('user', 'user_id')

interface ChangedRow extends Omit<ChangedAccount, 'account'> {
  readonly account: AccountRecord | null
}

interface RemovedRow extends Omit<RemovedAccount, 'account'> {
  readonly account: RemovedAccount['account'] | null
}

/** The lock on the person, behind that on accounts, as for an invitation: what is changed of their memberships and of the
 *  keys that they own waits for it too, and would lock the same rows in another order. */
const personTurn = (accountId: string) => sql`
  SELECT FROM gateway_user WHERE user_id = (SELECT user_id FROM gateway_account WHERE account_id = ${accountId})
  FOR NO KEY UPDATE`

const isLastAdmin = (accountId: string) => sql<boolean>`NOT EXISTS (
  SELECT FROM gateway_account WHERE platform_role = 'platform_admin' AND state = 'active' AND account_id <> ${accountId})`

/** The memberships of the person of `record` within the reach. */
const memberships = (reach: Reach) => sql`
  FROM gateway_membership AS member
    LEFT JOIN gateway_organization AS organization
      ON member.scope_type = 'organization' AND organization.organization_id = member.scope_id
    LEFT JOIN gateway_team AS team ON member.scope_type = 'team' AND team.team_id = member.scope_id
  WHERE member.user_id = record.user_id AND ${reachable(
    reach,
    ({ organizations, teams }) => sql`(
      organization.organization_id = ${organizations} OR team.organization_id = ${organizations}
      OR team.team_id = ${teams})`,
  )}`

export function administeredAccounts(database: Sql): AdministeredAccounts {
  const select = (reach: Reach, conditions: readonly RawBuilder<unknown>[], more = sql``) => sql<AdministeredAccount>`
    SELECT ${COLUMNS}, "user".user_name, "user".max_budget::float8, "user".budget_duration,
      coalesce((
        SELECT budget.spent_nano::float8 / 1e9 FROM (SELECT "user".*) AS record ${SPENT.joined} WHERE ${SPENT.holds}
      ), 0) AS spend,
      (SELECT coalesce(json_agg(DISTINCT provider), '[]') FROM gateway_account_identity AS identity
        WHERE identity.account_id = record.account_id) AS identities,
      (SELECT coalesce(json_agg(json_build_object('scope', member.scope_type, 'id', member.scope_id, 'role', member.role,
          'name', coalesce(organization.organization_name, team.team_name),
          'organization_id', coalesce(organization.organization_id, team.organization_id)) ORDER BY member.scope_type, member.scope_id),
          '[]')
        ${memberships(reach)}) AS memberships
    FROM gateway_account AS record JOIN gateway_user AS "user" USING (user_id)
    WHERE ${sql.join([...conditions, reachable(reach, withinUser)], sql` AND `)} ${more}`
  return {
    async find(accountId, reach) {
      return (await rowsOf(database, select(reach, [sql`record.account_id = ${accountId}`])))[0]
    },
    page: ({ reach, cursor, limit, search, state, platform_role, mfa_enabled, organization_id, team_id }) =>
      rowsOf(
        database,
        select(
          reach,
          [
            sql`record.account_id > ${cursor}`,
            ...(search === ''
              ? []
              : [
                  contains(
                    sql`record.email || ' ' || record.email_key || ' ' || coalesce("user".user_name, '') || ' ' || record.account_id`,
                    search,
                  ),
                ]),
            ...(state === undefined ? [] : [sql`record.state = ${state}`]),
            ...(platform_role === undefined ? [] : [sql`record.platform_role = ${platform_role}`]),
            ...(mfa_enabled === undefined ? [] : [sql`(record.totp_confirmed_at IS NOT NULL) = ${mfa_enabled}`]),
            ...(organization_id === undefined
              ? []
              : [
                  sql`EXISTS (SELECT ${memberships(reach)}
                    AND coalesce(organization.organization_id, team.organization_id) = ${organization_id})`,
                ]),
            ...(team_id === undefined
              ? []
              : [sql`EXISTS (SELECT ${memberships(reach)} AND team.team_id = ${team_id})`]),
          ],
          sql`ORDER BY record.account_id LIMIT ${limit}`,
        ),
      ),
    async change(accountId, { email = null, platform_role = null, state = null, ...flags }) {
      const { must_change_password = null, email_proved = null } = flags
      const key = email === null ? null : emailKey(email)
      const change = sql<ChangedRow>`
        WITH before AS (SELECT * FROM gateway_account WHERE account_id = ${accountId} FOR UPDATE),
        wanted AS (
          SELECT account_id, coalesce(${email}, email) AS email, coalesce(${key}, email_key) AS email_key,
            coalesce(${platform_role}, platform_role) AS platform_role,
            coalesce(${state}, state) AS state,
            coalesce(${must_change_password}::boolean, must_change_password) AS must_change_password,
            coalesce(${email_proved}::boolean, email_proved AND email_key = coalesce(${key}, email_key)) AS email_proved
          FROM before
        ),
        record AS (
          UPDATE gateway_account AS record SET email = wanted.email, email_key = wanted.email_key,
            platform_role = wanted.platform_role, state = wanted.state,
            must_change_password = wanted.must_change_password, email_proved = wanted.email_proved,
            version = ${NEXT_VERSION}, updated_at = now()
          FROM before, wanted
          WHERE record.account_id = before.account_id AND (
            before.platform_role <> 'platform_admin' OR before.state <> 'active'
            OR (wanted.platform_role = 'platform_admin' AND wanted.state = 'active')
            OR NOT ${isLastAdmin(accountId)})
          RETURNING ${COLUMNS}
        ),
        ended AS (
          UPDATE gateway_session AS session SET ended_at = now(), version = ${NEXT_VERSION} FROM before, record
          WHERE session.account_id = record.account_id AND session.ended_at IS NULL
            AND (record.platform_role, record.state) IS DISTINCT FROM (before.platform_role, before.state)
        ),
        links AS (
          DELETE FROM gateway_password_reset AS reset USING before, wanted, record
          WHERE reset.account_id = record.account_id
            AND (record.state = 'disabled' OR wanted.email_key <> before.email_key)
        ),
        person AS (
          UPDATE gateway_user AS person SET user_email = record.email, version = ${NEXT_VERSION}, updated_at = now()
          FROM before, record WHERE person.user_id = record.user_id AND record.email <> before.email
        ),
        owned AS (
          UPDATE gateway_key AS key SET version = ${NEXT_VERSION}, updated_at = now() FROM before, record
          WHERE key.owner_account_id = record.account_id AND key.revoked_at IS NULL AND record.state <> before.state
          RETURNING key.key_id, key.key_hash, key.version
        )
        SELECT row_to_json(record) AS account,
          json_build_object('email', before.email, 'platform_role', before.platform_role, 'state', before.state,
            'must_change_password', before.must_change_password, 'email_proved', before.email_proved) AS before,
          (SELECT coalesce(json_agg(owned), '[]') FROM owned) AS keys
        FROM before LEFT JOIN record ON true`
      // Behind the last of them, the statement sees the sessions that were opened meanwhile, too.
      const turns = [ACCOUNT_TURN, personTurn(accountId), accountLock(accountId)] as const
      const rows = await batchOf<[unknown, unknown, unknown, ChangedRow]>(database, [...turns, change]).catch(
        (error: unknown) => {
          if (error instanceof SqlError && error.code === UNIQUE_VIOLATION) return undefined
          throw error
        },
      )
      if (!rows) return 'address_taken'
      const [, , , [row]] = rows
      if (!row) return undefined
      const { account, before, keys } = row
      return account ? { account, before, keys } : 'last_admin'
    },
    async remove(accountId) {
      const mayGo = sql<boolean>`(before.platform_role <> 'platform_admin' OR before.state <> 'active'
        OR NOT ${isLastAdmin(accountId)})`
      const removal = sql<RemovedRow>`
        WITH before AS (SELECT * FROM gateway_account WHERE account_id = ${accountId} FOR UPDATE),
        owned AS (
          UPDATE gateway_key AS key SET revoked_at = now(), version = ${NEXT_VERSION}, updated_at = now() FROM before
          WHERE key.owner_account_id = before.account_id AND key.revoked_at IS NULL AND ${mayGo}
          RETURNING key.key_id, key.key_hash, key.version
        ),
        left_behind AS (
          DELETE FROM gateway_membership AS member USING before
          WHERE member.user_id = before.user_id AND ${mayGo}
        ),
        uninvited AS (
          UPDATE gateway_invitation AS invitation SET state = 'cancelled', updated_at = now() FROM before
          WHERE invitation.email_key = before.email_key AND invitation.state = 'pending' AND ${mayGo}
        ),
        gone AS (
          DELETE FROM gateway_account AS record USING before
          WHERE record.account_id = before.account_id AND ${mayGo}
          RETURNING record.account_id, record.user_id, record.email, record.platform_role
        )
        SELECT row_to_json(gone) AS account, ${NEXT_VERSION} AS version,
          (SELECT coalesce(json_agg(owned), '[]') FROM owned) AS keys
        FROM before LEFT JOIN gone ON true`
      const turns = [ACCOUNT_TURN, personTurn(accountId)] as const
      const [, , [row]] = await batchOf<[unknown, unknown, RemovedRow]>(database, [...turns, removal])
      if (!row) return undefined
      const { account, version, keys } = row
      return account ? { account, version, keys } : 'last_admin'
    },
  }
}
