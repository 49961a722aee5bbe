import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { resetLink } from '../../../mail/reset-links.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { isStorable } from '../../storable.ts'

const answer = lazily(() =>
  z.object({
    account_id: z.string(),
    email: z.string(),
    link: z
      .string()
      .describe('Where a new password is set, once; without general_settings.email_base_url a path of the gateway.'),
    expires_at: z.iso.datetime(),
    ended: z.int().describe('The number of ended sessions.'),
  }),
)

export const resetPassword = defineRoute(
  {
    method: 'post',
    path: '/ui/api/accounts/{account_id}/reset-password',
    summary: 'Ends the sessions of an account, and gives the link by which its owner sets a new password.',
    tag: 'Accounts',
    auth: 'admin',
    permission: 'platform.admin',
    action: 'account.issue_password_reset',
    params: () => z.object({ account_id: z.string() }),
    responses: { 200: { description: 'The link, which only this answer shows.', schema: answer } },
  },
  async (scope) => {
    const { records, passwordResets, sessions, config } = scope.services
    const { account_id } = scope.input.params
    const account = isStorable(account_id)
      ? await records.administeredAccounts.find(account_id, 'everything')
      : undefined
    if (!account) throw new GatewayError('not_found', 'There is no such account.', { param: 'account_id' })
    if (account.state !== 'active') {
      const message = 'This account is disabled, so no link would work. Enable it first.'
      throw new GatewayError('conflict', message, { param: 'account_id', code: 'account_disabled' })
    }
    const { token, expiresAt } = await passwordResets.issue(account_id)
    const ended = await sessions.endAll(account_id)
    scope.audits({ metadata: { ended } })
    return json({
      account_id,
      email: account.email,
      link: resetLink(config.general_settings.email_base_url ?? '', token),
      expires_at: expiresAt.toISOString(),
      ended,
    })
  },
)
