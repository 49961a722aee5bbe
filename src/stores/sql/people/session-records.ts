import { type Selectable, sql } from 'kysely'
import { batchOf, queries, rowsOf } from '../query.ts'
import { NEXT_VERSION } from '../records/scope-records.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { accountLock, type Given } from './given.ts'

export type SessionMethod = Selectable<Schema['gateway_session']>['method']

/** A session with everything that its caller is made of. */
export interface StoredSession {
  readonly session_id: string
  readonly method: SessionMethod
  readonly mfa_verified: boolean
  readonly created_at: string
  readonly last_used_at: string
  readonly expires_at: string
  readonly version: string
  /** It has not ended, by the database's clock, and its account is active. */
  readonly alive: boolean
  readonly account: {
    readonly account_id: string
    readonly user_id: string
    readonly email: string
    readonly platform_role: 'platform_admin' | 'org_user'
    readonly mfa_enabled: boolean
    readonly has_password: boolean
    readonly must_change_password: boolean
    readonly version: number
    readonly user_version: number
  } | null
  readonly memberships: readonly StoredMembership[]
}

export interface StoredMembership {
  readonly scope: 'organization' | 'team'
  readonly id: string
  readonly name: string | null
  readonly organization_id: string | null
  readonly role: string
  /** Of the organization or team. */
  readonly version: number
}

/** A new session. */
export interface NewSession {
  readonly session_id: string
  readonly token_hash: string
  readonly account_id: string | null
  readonly method: SessionMethod
  readonly mfa_verified: boolean
  readonly ip: string | null
  readonly user_agent: string | null
  readonly lifeSeconds: number
  /** The hash of the password by which the account was proved, which must be the account's still. */
  readonly passwordHash?: string | undefined
  /** The session that this one replaces and ends. The new one keeps its beginning and its end. */
  readonly replaces?: string | undefined
  /** Goes with `replaces`: a condition, and a change in the same statement. */
  readonly given?: Given | undefined
}

/** A session as its owner sees it. */
export type ListedSession = Pick<
  Selectable<Schema['gateway_session']>,
  'session_id' | 'method' | 'mfa_verified' | 'ip' | 'user_agent' | 'created_at' | 'last_used_at' | 'expires_at'
>

export interface EndedSession {
  readonly session_id: string
  readonly version: string
}

export interface OpenedSession {
  readonly replaced: EndedSession | undefined
  /** Of the account, where something was given. */
  readonly accountVersion: string | undefined
}

/** Browser sessions. Those that ended stay until they are swept. */
export interface SessionRecords {
  /** The session of a token, by any of the hashes that it may have. */
  byTokenHash(hashes: readonly string[]): Promise<StoredSession | undefined>
  /** Opens a session; one that replaces no other counts as a sign-in of the account. undefined: the session to replace
   *  has ended, the account is not active or has another password by now, or the condition of `given` does not hold. */
  open(session: NewSession): Promise<OpenedSession | undefined>
  /** Notes that it was used. */
  touch(sessionId: string, from: { readonly ip: string | null; readonly user_agent: string | null }): Promise<void>
  /** The live sessions of an account, the newest first. */
  list(accountId: string): Promise<ListedSession[]>
  /** Ends a live session; with `accountId` only one of that account. undefined: there is none. */
  end(sessionId: string, accountId?: string): Promise<EndedSession | undefined>
  /** Ends all of an account but one. */
  endAll(accountId: string, except?: string): Promise<EndedSession[]>
  /** Removes sessions that ended long ago. */
  sweep(): Promise<void>
}

interface Opened {
  readonly replaced_version: string | null
  readonly account_version: string | null
}

/** A session ends when it was unused for this long. */
export const IDLE_SECONDS = 12 * 3600
const KEPT_DAYS = 30

const alive = sql<boolean>`(session.ended_at IS NULL AND session.expires_at > now()
  AND session.last_used_at > now() - make_interval(secs => ${sql.lit(IDLE_SECONDS)}))`

export function sessionRecords(database: Sql): SessionRecords {
  return {
    async byTokenHash(hashes) {
      const [row] = await rowsOf(
        database,
        sql<StoredSession>`
          SELECT session.session_id, session.method, session.mfa_verified, session.created_at, session.last_used_at,
            session.expires_at, session.version,
            ${alive} AND (session.account_id IS NULL OR account.state = 'active') AS alive,
            CASE WHEN account.account_id IS NOT NULL THEN json_build_object(
              'account_id', account.account_id, 'user_id', account.user_id, 'email', account.email,
              'platform_role', account.platform_role, 'mfa_enabled', account.totp_confirmed_at IS NOT NULL,
              'has_password', account.password_hash IS NOT NULL,
              'must_change_password', account.must_change_password, 'version', account.version,
              'user_version', "user".version) END AS account,
            (SELECT coalesce(json_agg(json_build_object('scope', member.scope_type, 'id', member.scope_id,
                'name', coalesce(organization.organization_name, team.team_name),
                'organization_id', team.organization_id, 'role', member.role,
                'version', coalesce(organization.version, team.version))
                ORDER BY member.scope_type, member.scope_id), '[]')
              FROM gateway_membership AS member
                LEFT JOIN gateway_organization AS organization
                  ON member.scope_type = 'organization' AND organization.organization_id = member.scope_id
                LEFT JOIN gateway_team AS team ON member.scope_type = 'team' AND team.team_id = member.scope_id
              WHERE member.user_id = account.user_id
                AND (organization.organization_id IS NOT NULL OR team.team_id IS NOT NULL)) AS memberships
          FROM gateway_session AS session
            LEFT JOIN gateway_account AS account USING (account_id)
            LEFT JOIN gateway_user AS "user" USING (user_id)
          WHERE session.token_hash = ANY(${[...hashes]}::text[])`,
      )
      return row
    },
    async open({ replaces, given, lifeSeconds, passwordHash = null, ...session }) {
      const names = ['session_id', 'token_hash', 'account_id', 'method', 'mfa_verified', 'ip', 'user_agent'] as const
      const values = sql.join(names.map((name) => sql`${session[name]}`))
      const columns = sql`session_id, token_hash, account_id, method, mfa_verified, ip, user_agent`
      const account = sql<boolean>`(${session.account_id}::text IS NULL OR EXISTS (
        SELECT FROM gateway_account WHERE account_id = ${session.account_id} AND state = 'active'))`
      const holds = given ? sql`EXISTS (SELECT FROM given)` : sql`true`
      const insert =
        replaces === undefined
          ? sql<Opened>`
            WITH account AS (
              UPDATE gateway_account SET last_login_at = now()
              WHERE account_id = ${session.account_id} AND state = 'active'
                AND (${passwordHash}::text IS NULL OR password_hash = ${passwordHash})
              RETURNING account_id
            )
            INSERT INTO gateway_session (${columns}, expires_at)
            SELECT ${values}, now() + make_interval(secs => ${lifeSeconds})
            WHERE ${session.account_id}::text IS NULL OR EXISTS (SELECT FROM account)
            RETURNING NULL AS replaced_version, NULL AS account_version`
          : sql<Opened>`
            WITH ${given ? sql`${given.clauses},` : sql``} replaced AS (
              UPDATE gateway_session AS session SET ended_at = now(), version = ${NEXT_VERSION}
              WHERE session.session_id = ${replaces} AND ${alive} AND ${account} AND ${holds}
              RETURNING created_at, expires_at, version
            ), opened AS (
              INSERT INTO gateway_session (${columns}, created_at, expires_at)
              SELECT ${values}, created_at, expires_at FROM replaced
            )
            SELECT version AS replaced_version, ${given ? sql`(SELECT version FROM given)` : null} AS account_version
            FROM replaced`
      const before = given ? [accountLock(given.accountId)] : []
      const [opened] = (await batchOf<Opened[]>(database, [...before, insert])).at(-1) ?? []
      if (!opened) return undefined
      const { replaced_version, account_version } = opened
      return {
        replaced:
          replaces === undefined || replaced_version === null
            ? undefined
            : { session_id: replaces, version: replaced_version },
        accountVersion: account_version ?? undefined,
      }
    },
    async touch(sessionId, from) {
      await rowsOf(
        database,
        queries
          .updateTable('gateway_session')
          .set({ ...from, last_used_at: sql<string>`now()` })
          .where('session_id', '=', sessionId)
          .where('ended_at', 'is', null),
      )
    },
    list: (accountId) =>
      rowsOf(
        database,
        queries
          .selectFrom('gateway_session as session')
          .select(['session_id', 'method', 'mfa_verified', 'ip', 'user_agent', 'created_at', 'last_used_at'])
          .select('expires_at')
          .where('account_id', '=', accountId)
          .where(alive)
          .orderBy('last_used_at', 'desc')
          .orderBy('session_id')
          .limit(200),
      ),
    async end(sessionId, accountId) {
      const [ended] = await rowsOf(
        database,
        sql<EndedSession>`
          UPDATE gateway_session AS session SET ended_at = now(), version = ${NEXT_VERSION}
          WHERE session.session_id = ${sessionId} AND session.ended_at IS NULL
            AND (${accountId ?? null}::text IS NULL OR session.account_id = ${accountId ?? null})
          RETURNING session.session_id, session.version`,
      )
      return ended
    },
    endAll: (accountId, except = '') =>
      rowsOf(
        database,
        sql<EndedSession>`
          UPDATE gateway_session AS session SET ended_at = now(), version = ${NEXT_VERSION}
          WHERE session.account_id = ${accountId} AND session.ended_at IS NULL AND session.session_id <> ${except}
          RETURNING session.session_id, session.version`,
      ),
    async sweep() {
      await rowsOf(
        database,
        queries
          .deleteFrom('gateway_session')
          .where('expires_at', '<', sql<string>`now() - make_interval(days => ${sql.lit(KEPT_DAYS)})`),
      )
    },
  }
}
