import * as z from 'zod'
import { accepted, mistake } from '../../../config/accepted.ts'
import { mailbox } from '../../../config/fields.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { MailRefused } from '../../../mail/mail-sender.ts'
import { testMail } from '../../../mail/templates.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

const body = lazily(() =>
  z.strictObject({ recipient: mailbox().optional().describe("Left out: the session's own address.") }),
)

export const testEmail = defineRoute(
  {
    method: 'post',
    path: '/ui/api/email/test',
    summary: 'Sends a test e-mail at once and reports the outcome.',
    tag: 'Accounts',
    auth: 'admin',
    permission: 'platform.admin',
    action: 'email.test',
    json: () => body().optional(),
    responses: {
      200: {
        description: 'The e-mail was accepted for delivery.',
        schema: () => z.object({ recipient: z.string(), provider: z.string(), response: z.string() }),
      },
    },
  },
  async (scope) => {
    const { outbox, config } = scope.services
    const { recipient = scope.session()?.account?.email } = accepted(body(), scope.input.json ?? {})
    const { email_provider: provider } = config.general_settings
    if (!outbox.enabled || provider === undefined) {
      throw new GatewayError('conflict', 'No e-mail is sent until general_settings.email_provider is configured.', {
        code: 'email_not_configured',
      })
    }
    if (recipient === undefined) throw mistake('recipient', 'is required: the master key has no address')
    scope.audits({ resource_id: null, metadata: { recipient, provider } })
    try {
      return json({ recipient, provider, response: await outbox.sendNow(recipient, testMail()) })
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error
      throw new GatewayError('email_failed', `The e-mail was not sent: ${error.message}`, { cause: error })
    }
  },
)
