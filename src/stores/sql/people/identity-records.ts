import { type Selectable, sql } from 'kysely'
import { batchOf, rowsOf } from '../query.ts'
import { NEXT_VERSION } from '../records/scope-records.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { ACCOUNT_TURN } from './account-turn.ts'
import { emailKey } from './email-key.ts'
import { type Inviters, mayStillInvite } from './inviters.ts'

/** A person's identity at an identity provider. */
export interface Identity {
  readonly provider: string
  readonly subject: string
  /** The address that the provider sent at this login. */
  readonly email: string | undefined
}

export type IdentityAccount = Pick<
  Selectable<Schema['gateway_account']>,
  'account_id' | 'user_id' | 'email' | 'platform_role' | 'state' | 'version'
>

/** An identity that no account has yet. */
export interface NewIdentity extends Identity {
  readonly email: string
  readonly emailVerified: boolean
  readonly name: string | undefined
  /** The ids for a new account and its user row. */
  readonly account_id: string
  readonly user_id: string
  /** The account becomes a platform admin, if this is its first identity. */
  readonly isAdmin: boolean
  /** Anybody may get an account; if false, only people with an invitation. */
  readonly mayCreate: boolean
  /** The memberships and limits for newcomers, if this is the account's first identity. */
  readonly provisioning: Provisioning | undefined
}

/** Records to create where they are absent. Existing ones stay as they are. */
export interface Provisioning {
  readonly organization: {
    readonly id: string
    readonly max_budget?: number | undefined
    readonly rpm_limit?: number | undefined
  }
  readonly team: {
    readonly id: string
    readonly role: string
    readonly self_service_keys_enabled: boolean
    readonly self_service_max_keys_per_user?: number | undefined
    readonly self_service_budget_ceiling?: number | undefined
    readonly self_service_require_expiry: boolean
    readonly self_service_max_expiry_days?: number | undefined
  }
  readonly user: { readonly max_budget?: number | undefined; readonly rpm_limit?: number | undefined }
}

/** The outcome of the first login of an identity. Only `linked` and `created` change anything. */
export interface FirstLogin {
  readonly outcome:
    | 'linked'
    | 'created'
    /** The identity has an account by now. */
    | 'known'
    /** The address has an account, and is not proved to be this person's. */
    | 'unverified'
    /** The address has an account, and was never proved to be that account's. */
    | 'unproved'
    /** The account of the address signs on as somebody else at this provider. */
    | 'taken'
    | 'disabled'
    /** There is no account, and none may be made. */
    | 'refused'
  readonly account: IdentityAccount | null
  /** Of an account that was linked. */
  readonly role_before: IdentityAccount['platform_role'] | null
  /** The versions of what was made; of the user row where its memberships have changed. */
  readonly organization_version: string | null
  readonly team_version: string | null
  readonly user_version: string | null
  readonly joined_organization: boolean
  readonly joined_team: boolean
}

/** The identities of accounts: provider and subject, never the address. */
export interface IdentityRecords {
  /** The account of an identity. Of an active one the login is noted. */
  login(identity: Identity): Promise<IdentityAccount | undefined>
  /** Links the account of the address, or creates one, with the memberships for newcomers: all or nothing, and once for
   *  simultaneous logins. An account that becomes a platform admin by it loses its earlier sessions. */
  firstLogin(identity: NewIdentity): Promise<FirstLogin>
}

const NOTHING: Provisioning = {
  organization: { id: '' },
  team: { id: '', role: '', self_service_keys_enabled: false, self_service_require_expiry: false },
  user: {},
}

const ACCOUNT = sql`account.account_id, account.user_id, account.email, account.platform_role, account.state,
  account.version`

export function identityRecords(database: Sql, inviters: Inviters): IdentityRecords {
  return {
    async login({ provider, subject, email = null }) {
      const [account] = await rowsOf(
        database,
        sql<IdentityAccount>`
          WITH account AS (
            SELECT ${ACCOUNT} FROM gateway_account_identity JOIN gateway_account AS account USING (account_id)
            WHERE provider = ${provider} AND subject = ${subject}
          ),
          noted AS (
            UPDATE gateway_account SET last_login_at = now() FROM account
            WHERE gateway_account.account_id = account.account_id AND account.state = 'active'
          ),
          told AS (
            UPDATE gateway_account_identity AS identity SET last_login_at = now(), email = ${email}::text FROM account
            WHERE provider = ${provider} AND subject = ${subject} AND account.state = 'active'
          )
          SELECT * FROM account`,
      )
      return account
    },
    async firstLogin({ provider, subject, email, emailVerified, name = null, ...identity }) {
      const key = emailKey(email)
      const { organization, team, user } = identity.provisioning ?? NOTHING
      const provisions = identity.provisioning !== undefined
      const role = identity.isAdmin ? 'platform_admin' : 'org_user'
      const decision = sql<FirstLogin>`
        WITH named AS (SELECT * FROM gateway_account WHERE email_key = ${key}),
        theirs AS (SELECT provider FROM gateway_account_identity JOIN named USING (account_id)),
        verdict AS (
          SELECT NOT EXISTS (SELECT FROM theirs) AS is_first, CASE
            WHEN EXISTS (SELECT FROM gateway_account_identity WHERE provider = ${provider} AND subject = ${subject})
              THEN 'known'
            WHEN EXISTS (SELECT FROM named) THEN CASE
              WHEN NOT ${emailVerified} THEN 'unverified'
              WHEN EXISTS (SELECT FROM named WHERE NOT email_proved) THEN 'unproved'
              WHEN EXISTS (SELECT FROM theirs WHERE provider = ${provider}) THEN 'taken'
              WHEN EXISTS (SELECT FROM named WHERE state <> 'active') THEN 'disabled'
              ELSE 'linked' END
            WHEN ${identity.mayCreate} OR ${emailVerified} AND EXISTS (
              SELECT FROM gateway_invitation AS invitation
              WHERE email_key = ${key} AND state = 'pending' AND expires_at > now()
                AND ${mayStillInvite('invitation', inviters)}) THEN 'created'
            ELSE 'refused' END AS outcome
        ),
        created AS (
          INSERT INTO gateway_account AS account (account_id, user_id, email, email_key, email_proved, platform_role,
            last_login_at)
          SELECT ${identity.account_id}, ${identity.user_id}, ${email}, ${key}, ${emailVerified}, ${role}, now()
          FROM verdict WHERE outcome = 'created'
          RETURNING ${ACCOUNT}
        ),
        newcomer AS (
          INSERT INTO gateway_user (user_id, user_email, user_name, max_budget, rpm_limit)
          SELECT user_id, email, ${name}::text, ${user.max_budget ?? null}::numeric, ${user.rpm_limit ?? null}::bigint
          FROM created
        ),
        linked AS (
          UPDATE gateway_account AS account SET version = ${NEXT_VERSION}, updated_at = now(), last_login_at = now(),
            platform_role = CASE WHEN ${identity.isAdmin} AND is_first THEN 'platform_admin'
              ELSE account.platform_role END
          FROM verdict WHERE account.email_key = ${key} AND outcome = 'linked'
          RETURNING ${ACCOUNT}
        ),
        ended AS (
          UPDATE gateway_session AS session SET ended_at = now(), version = ${NEXT_VERSION} FROM named, linked
          WHERE session.account_id = linked.account_id AND session.ended_at IS NULL
            AND linked.platform_role <> named.platform_role
        ),
        account AS (SELECT * FROM created UNION ALL SELECT * FROM linked),
        identity AS (
          INSERT INTO gateway_account_identity (provider, subject, account_id, email, last_login_at)
          SELECT ${provider}, ${subject}, account_id, ${email}, now() FROM account
        ),
        newly AS (SELECT account.* FROM account, verdict WHERE is_first AND ${provisions}),
        organization AS (
          INSERT INTO gateway_organization AS made (organization_id, max_budget, rpm_limit)
          SELECT ${organization.id}, ${organization.max_budget ?? null}::numeric,
            ${organization.rpm_limit ?? null}::bigint FROM newly
          ON CONFLICT (organization_id) DO NOTHING RETURNING made.version
        ),
        team AS (
          INSERT INTO gateway_team AS made (team_id, organization_id, self_service_keys_enabled,
            self_service_max_keys_per_user, self_service_budget_ceiling, self_service_require_expiry,
            self_service_max_expiry_days)
          SELECT ${team.id}, ${organization.id}, ${team.self_service_keys_enabled},
            ${team.self_service_max_keys_per_user ?? null}::integer,
            ${team.self_service_budget_ceiling ?? null}::numeric, ${team.self_service_require_expiry},
            ${team.self_service_max_expiry_days ?? null}::integer FROM newly
          ON CONFLICT (team_id) DO NOTHING RETURNING made.version
        ),
        member AS (
          INSERT INTO gateway_membership AS made (scope_type, scope_id, user_id, role)
          SELECT 'organization', ${organization.id}, user_id, 'org_member' FROM newly
          UNION ALL SELECT 'team', ${team.id}, user_id, ${team.role} FROM newly
          ON CONFLICT (scope_type, scope_id, user_id) DO NOTHING RETURNING made.scope_type
        ),
        person AS (
          UPDATE gateway_user AS changed SET version = ${NEXT_VERSION} FROM linked
          WHERE changed.user_id = linked.user_id AND EXISTS (SELECT FROM member) RETURNING changed.version
        )
        SELECT verdict.outcome, (SELECT row_to_json(account) FROM account) AS account,
          (SELECT platform_role FROM named) AS role_before,
          (SELECT version FROM organization)::text AS organization_version,
          (SELECT version FROM team)::text AS team_version, (SELECT version FROM person)::text AS user_version,
          EXISTS (SELECT FROM member WHERE scope_type = 'organization') AS joined_organization,
          EXISTS (SELECT FROM member WHERE scope_type = 'team') AS joined_team
        FROM verdict`
      // The decision must see the sessions that were opened meanwhile.
      const lock = sql`SELECT FROM gateway_account WHERE email_key = ${key} FOR UPDATE`
      const [, , [decided]] = await batchOf<[unknown, unknown, FirstLogin]>(database, [ACCOUNT_TURN, lock, decision])
      if (!decided) throw new TypeError('a statement that always answers a row has answered none')
      return decided
    },
  }
}
