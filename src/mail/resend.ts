import type { Secret } from '../lib/secret.ts'
import { bearer } from './credential.ts'
import { type MailService, textFieldOf } from './http-sender.ts'

/** https://resend.com/docs/api-reference/emails/send-email */
export function resend(from: string, apiKey: Secret): MailService {
  return {
    name: 'resend',
    base: 'https://api.resend.com',
    path: '/emails',
    // The same e-mail is sent once a day at most, also where its answer was lost.
    headers: ({ id }) => ({ authorization: bearer(apiKey), 'idempotency-key': id }),
    body: ({ recipient, subject, text, html }) => ({ from, to: [recipient], subject, text, html }),
    accepted: ({ json }) => textFieldOf(json, 'id'),
    reason: ({ json }) => textFieldOf(json, 'message'),
  }
}
