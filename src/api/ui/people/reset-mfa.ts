import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { defineRoute } from '../../route.ts'
import { isStorable } from '../../storable.ts'
import { changeAnswer, changeAnswers } from '../records/record-changed.ts'

const answer = lazily(() =>
  z.object({
    account_id: z.string(),
    mfa_enabled: z.literal(false),
    ended: z.int().describe('The number of ended sessions.'),
  }),
)

export const resetMfa = defineRoute(
  {
    method: 'post',
    path: '/ui/api/accounts/{account_id}/reset-mfa',
    summary: 'Removes a lost second factor and ends the sessions of the account.',
    tag: 'Accounts',
    auth: 'admin',
    permission: 'platform.admin',
    action: 'account.reset_mfa',
    params: () => z.object({ account_id: z.string() }),
    responses: changeAnswers(200, {
      description: 'The second factor and its recovery codes are removed.',
      schema: answer,
    }),
  },
  async (scope) => {
    const { account_id } = scope.input.params
    const reset = isStorable(account_id) ? await scope.services.secondFactor.reset(account_id) : undefined
    if (!reset) throw new GatewayError('not_found', 'There is no such account.', { param: 'account_id' })
    const { ended, everywhere } = reset
    scope.audits({ metadata: { ended } })
    return changeAnswer(everywhere, { account_id, mfa_enabled: false, ended })
  },
)
