import * as z from 'zod'
import { accepted } from '../../config/accepted.ts'
import { mailbox } from '../../config/fields.ts'
import { GatewayError } from '../../lib/errors.ts'
import { lazily } from '../../lib/lazily.ts'
import { mayBeToken } from '../../lib/token.ts'
import { bearerOf } from '../middleware/bearer.ts'
import { setSessionCookie } from '../middleware/session-cookie.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'
import type { Scope } from '../scope.ts'
import { storable } from '../storable.ts'
import { answerOf, sessionAnswer } from './session-answer.ts'

const body = lazily(() =>
  z.strictObject({
    token: z
      .string()
      .max(4096)
      .optional()
      .describe('The token of the setup link; without it the master key is required.'),
    email: storable().pipe(mailbox()),
    password: z.string().max(65_536),
  }),
)

export const bootstrap = defineRoute(
  {
    method: 'post',
    path: '/auth/bootstrap',
    summary: 'Creates the first administrator while there is no account; afterwards it answers 404.',
    tag: 'Accounts',
    auth: 'public',
    action: 'account.bootstrap',
    json: body,
    responses: { 201: { description: 'The session of the new account.', schema: sessionAnswer } },
  },
  async (scope) => {
    const { firstAdmin, passwords, sessions } = scope.services
    const { token, email, password } = accepted(body(), scope.input.json)
    if (!(await firstAdmin.isMissing())) throw over()
    const key = bearerOf(scope.header('authorization'))
    if (token === undefined || key !== undefined) await requireMasterKey(scope, key)
    // Hashed before the token is used up: a refused password must not cost the token.
    const hash = await passwords.hash(password, email)
    if (key === undefined) await claim(scope, token)
    const account = await firstAdmin.create(email, hash, false)
    if (!account) throw over()
    const { account_id } = account
    scope.audits({ actor_type: 'account', actor_id: account_id, resource_id: account_id, metadata: { email } })
    const opening = { accountId: account_id, method: 'bootstrap', mfaVerified: false } as const
    const opened = await sessions.open(opening, scope.sessionClient())
    if (!opened) throw over()
    return json(answerOf(opened.caller.session), 201, setSessionCookie(scope.site(), opened))
  },
)

async function requireMasterKey({ services, address }: Scope, key: string | undefined): Promise<void> {
  const { kind } = await services.identify(key, address)
  if (kind !== 'master_key') throw refused()
}

async function claim({ services }: Scope, token: string | undefined): Promise<void> {
  if (token === undefined || !mayBeToken(token) || !(await services.firstAdmin.claim(token))) throw refused()
}

function refused(): GatewayError {
  return new GatewayError('authentication', 'The setup token is wrong, used or expired. Use the master key.', {
    code: 'invalid_setup_token',
  })
}

function over(): GatewayError {
  return new GatewayError('not_found', 'There is an account already. Sign in.')
}
