import type { Secret } from '../lib/secret.ts'
import { bearer } from './credential.ts'
import { fieldOf, type MailService, textFieldOf } from './http-sender.ts'
import { mailboxOf } from './mailbox-of.ts'

/** https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send */
export function sendgrid(from: string, apiKey: Secret): MailService {
  const sender = mailboxOf(from)
  return {
    name: 'sendgrid',
    base: 'https://api.sendgrid.com',
    path: '/v3/mail/send',
    headers: () => ({ authorization: bearer(apiKey) }),
    body: ({ recipient, subject, text, html }) => ({
      personalizations: [{ to: [{ email: recipient }] }],
      from: { email: sender.address, ...(sender.name === '' ? {} : { name: sender.name }) },
      subject,
      content: [
        { type: 'text/plain', value: text },
        { type: 'text/html', value: html },
      ],
      // A link that goes through somebody else's server first shows them its secret.
      tracking_settings: {
        click_tracking: { enable: false, enable_text: false },
        open_tracking: { enable: false },
      },
    }),
    // 202, without a body.
    accepted: ({ status, headers }) =>
      status === 202 ? (headers['x-message-id'] ?? 'a message without an id') : undefined,
    reason({ json }) {
      const errors = fieldOf(json, 'errors')
      return Array.isArray(errors) ? textFieldOf(errors[0], 'message') : undefined
    },
  }
}
