import * as z from 'zod'
import { accepted } from '../../config/accepted.ts'
import { refusal } from '../../identity/refusal.ts'
import type { SessionOpening } from '../../identity/sessions/sessions.ts'
import { GatewayError } from '../../lib/errors.ts'
import { lazily } from '../../lib/lazily.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { setSessionCookie } from '../middleware/session-cookie.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'
import type { Scope } from '../scope.ts'
import { browserSession } from './browser-session.ts'
import { emailField, givenPassword } from './fields.ts'
import { answerOf, sessionAnswer } from './session-answer.ts'

const masterKey = lazily(() => z.strictObject({ master_key: z.string().min(1).max(4096) }))
const password = lazily(() =>
  z.strictObject({
    email: emailField(),
    password: givenPassword(),
    mfa_code: z
      .string()
      .max(64)
      .optional()
      .describe(
        'A code of the second factor, or a recovery code. Without it the session of an account with a second factor is incomplete.',
      ),
  }),
)
const credentials = lazily(() => z.union([password(), masterKey()]))

export const login = defineRoute(
  {
    method: 'post',
    path: '/auth/internal/login',
    summary: 'Opens a session and sets its cookie. A former session of the browser ends.',
    tag: 'Accounts',
    auth: 'public',
    takesSession: true,
    action: 'account.login',
    json: credentials,
    responses: { 200: { description: 'The session.', schema: sessionAnswer } },
  },
  (scope) => {
    const given = scope.input.json
    const byKey = 'master_key' in given
    scope.audits({ actor_type: 'anonymous', actor_id: null, metadata: { method: byKey ? 'master_key' : 'password' } })
    return byKey ? byMasterKey(scope, accepted(masterKey(), given)) : byPassword(scope, accepted(password(), given))
  },
)

async function byMasterKey(scope: Scope, { master_key: key }: { readonly master_key: string }): Promise<Answer> {
  const { kind } = await scope.services.identify(key, scope.address)
  if (kind !== 'master_key') throw refusal('invalid_api_key', 'This is not the master key.')
  const answer = await opened(scope, { accountId: undefined, method: 'master_key', mfaVerified: false })
  if (!answer) throw new TypeError('a session of the master key has no account that could be inactive')
  scope.audits({ actor_type: 'master_key' })
  return answer
}

async function byPassword(scope: Scope, given: z.output<ReturnType<typeof password>>): Promise<Answer> {
  const { services, address } = scope
  const auditResult = (result: string, reason?: string, accountId?: string) =>
    scope.audits({
      resource_id: accountId ?? null,
      metadata: { method: 'password', result, ...(reason === undefined ? {} : { reason }) },
    })
  const attempt = { email: given.email, password: given.password, mfaCode: given.mfa_code, address }
  await services.firstAdmin.ensure()
  const outcome = await services.signIn(attempt).catch((error: unknown) => {
    auditResult('refused', error instanceof GatewayError ? (error.code ?? error.failure) : 'failed')
    throw error
  })
  if (outcome.kind === 'refused') {
    auditResult('refused', outcome.reason, outcome.accountId)
    throw wrongCredentials()
  }
  const { account, passwordHash, mfaVerified } = outcome
  const opening = { accountId: account.account_id, method: 'password', mfaVerified, passwordHash } as const
  const answer = await opened(scope, opening)
  if (!answer) {
    auditResult('refused', 'changed_meanwhile', account.account_id)
    throw wrongCredentials()
  }
  auditResult('accepted', undefined, account.account_id)
  scope.audits({ actor_type: 'account', actor_id: account.account_id })
  return answer
}

async function opened(scope: Scope, opening: SessionOpening): Promise<Answer | undefined> {
  const session = await browserSession(scope, opening)
  return session && json(answerOf(session.caller.session), 200, setSessionCookie(scope.site(), session))
}

/** The same refusal for every reason: it must not reveal which accounts exist. */
function wrongCredentials(): GatewayError {
  return refusal('invalid_credentials', 'The e-mail address, the password or the code is wrong.')
}
