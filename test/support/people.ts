import { sql } from 'kysely'
import { keyHasher } from '../../src/lib/crypto.ts'
import { newId } from '../../src/lib/ids.ts'
import { newToken } from '../../src/lib/token.ts'
import { emailKey } from '../../src/stores/sql/people/email-key.ts'
import { type Query, statementOf } from '../../src/stores/sql/query.ts'
import type { Sql } from '../../src/stores/sql/sql.ts'
import type { AdminAnswer } from './admin-api.ts'
import { FULL_GATEWAY_SALT_KEY } from './full-gateway.node.ts'

/** A browser in front of a gateway: keeps its session's cookie, and sends what a page of the gateway would. */
export interface Browser {
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<BrowserAnswer>
  /** The value of the session's cookie, '' where there is none. */
  token: string
}

export interface BrowserAnswer extends AdminAnswer {
  readonly headers: Headers
}

export function browser(url: string, token = ''): Browser {
  const own: Browser = {
    token,
    async ask(method, path, body, headers = {}) {
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: {
          origin: new URL(url).origin,
          'sec-fetch-site': 'same-origin',
          ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
          ...(own.token === '' ? {} : { cookie: `gateway_session=${own.token}` }),
          ...headers,
        },
      })
      for (const cookie of response.headers.getSetCookie()) {
        const value = /^gateway_session=([^;]*)/.exec(cookie)?.[1]
        if (value !== undefined) own.token = value
      }
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    },
  }
  return own
}

export interface Person {
  readonly email?: string
  readonly role?: 'platform_admin' | 'org_user'
  /** Roles by organization and by team. */
  readonly organizations?: Readonly<Record<string, string>>
  readonly teams?: Readonly<Record<string, string>>
  readonly passwordHash?: string
  readonly mustChangePassword?: boolean
  readonly mfaVerified?: boolean
}

export interface SignedIn extends Browser {
  readonly accountId: string
  readonly userId: string
  readonly sessionId: string
  readonly email: string
}

/** Where people are written to: a gateway's address, and the database behind it. */
export interface Signing {
  readonly url: string
  readonly sql: Pick<Sql, 'batch'>
  readonly saltKey?: string
}

/** Somebody who has signed in, written straight into the database: for tests of what comes after. */
export async function signedIn(gateway: Signing, person: Person = {}): Promise<SignedIn> {
  const ids = { accountId: newId('account', '-'), userId: newId('user', '-') }
  const email = person.email ?? `${ids.accountId}@example.com`
  const hash = person.passwordHash ?? null
  const member = (scope: string, roles: Readonly<Record<string, string>> = {}) =>
    Object.entries(roles).map(
      ([id, role]) => sql`
        INSERT INTO gateway_membership (scope_type, scope_id, user_id, role)
        VALUES (${scope}, ${id}, ${ids.userId}, ${role})`,
    )
  const session = sessionFor(gateway, ids.accountId, person.mfaVerified)
  await written(gateway, [
    sql`INSERT INTO gateway_user (user_id, user_email) VALUES (${ids.userId}, ${email})`,
    sql`INSERT INTO gateway_account (account_id, user_id, email, email_key, email_proved, platform_role, password_hash,
        must_change_password)
      VALUES (${ids.accountId}, ${ids.userId}, ${email}, ${emailKey(email)}, true, ${person.role ?? 'org_user'}, ${hash},
        ${person.mustChangePassword ?? false})`,
    ...member('organization', person.organizations),
    ...member('team', person.teams),
    session.statement,
  ])
  return Object.assign(browser(gateway.url, session.token), ids, { email, sessionId: session.sessionId })
}

/** The same person in another browser, without a second factor. */
export async function alsoSignedIn(gateway: Signing, { accountId, userId, email }: SignedIn): Promise<SignedIn> {
  const { statement, token, sessionId } = sessionFor(gateway, accountId)
  await written(gateway, [statement])
  return Object.assign(browser(gateway.url, token), { accountId, userId, email, sessionId })
}

function sessionFor({ saltKey = FULL_GATEWAY_SALT_KEY }: Signing, accountId: string, mfaVerified = false) {
  const [sessionId, token] = [newId('session'), newToken()]
  const statement = sql`
    INSERT INTO gateway_session (session_id, token_hash, account_id, method, mfa_verified, expires_at)
    VALUES (${sessionId}, ${keyHasher(saltKey)(token)}, ${accountId}, 'password', ${mfaVerified},
      now() + interval '7 days')`
  return { statement, token, sessionId }
}

async function written({ sql: database }: Signing, statements: readonly Query<unknown>[]): Promise<void> {
  await database.batch(statements.map(statementOf))
}
