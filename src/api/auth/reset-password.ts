import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { json } from '../respond.ts'
import { defineRoute, type Route } from '../route.ts'
import { emailField, givenPassword } from './fields.ts'

const forgot = defineRoute(
  {
    method: 'post',
    path: '/auth/internal/forgot-password',
    summary: 'Sends a password reset link to the address if it has an account. The answer is the same in any case.',
    tag: 'Accounts',
    auth: 'public',
    action: 'account.forgot_password',
    json: () => z.strictObject({ email: emailField() }),
    responses: {
      202: { description: 'Accepted.', schema: () => z.object({ accepted: z.literal(true) }) },
    },
  },
  async (scope) => {
    const { result, accountId } = await scope.services.passwordResets.ask(scope.input.json.email, scope.sessionClient())
    scope.audits({ actor_type: 'anonymous', actor_id: null, resource_id: accountId ?? null, metadata: { result } })
    return json({ accepted: true }, 202)
  },
)

const pending = lazily(() =>
  z.object({
    valid: z.boolean(),
    email: z.string().nullable(),
    expires_at: z.iso.datetime().nullable(),
  }),
)

const inspect = defineRoute(
  {
    method: 'get',
    path: '/auth/internal/reset-password/{token}',
    summary: 'Checks a password reset link without using it.',
    tag: 'Accounts',
    auth: 'public',
    params: () => z.object({ token: z.string() }),
    responses: { 200: { description: 'The link. An invalid one reveals nothing else.', schema: pending } },
  },
  async (scope) => {
    const found = await scope.services.passwordResets.pending(scope.input.params.token, scope.address)
    return json({ valid: found !== undefined, email: null, expires_at: null, ...found })
  },
)

const reset = defineRoute(
  {
    method: 'post',
    path: '/auth/internal/reset-password',
    summary: 'Sets a new password with the token of a reset link, once. All sessions of the account end.',
    tag: 'Accounts',
    auth: 'public',
    action: 'account.reset_password',
    json: () =>
      z.strictObject({
        token: z.string().max(512),
        new_password: givenPassword().describe('12 to 1,024 characters, and none that many people use.'),
      }),
    responses: { 200: { description: 'The password is set.', schema: () => z.object({ reset: z.literal(true) }) } },
  },
  async (scope) => {
    const { token, new_password } = scope.input.json
    scope.audits({ actor_type: 'anonymous', actor_id: null, resource_id: null })
    const accountId = await scope.services.passwordResets.use(token, new_password, scope.sessionClient())
    scope.audits({
      actor_type: 'account',
      actor_id: accountId,
      resource_id: accountId,
      changes: { password: { old: '…', new: '…' } },
    })
    return json({ reset: true })
  },
)

export const passwordResetRoutes: readonly Route[] = [forgot, inspect, reset]
