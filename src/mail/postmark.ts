import type { Secret } from '../lib/secret.ts'
import { fieldOf, type MailService, textFieldOf } from './http-sender.ts'

/** Invalid address or message, and a recipient that has complained or does not exist. */
const FINAL_CODES: ReadonlySet<unknown> = new Set([300, 406])

/** https://postmarkapp.com/developer/api/email-api */
export function postmark(from: string, apiKey: Secret): MailService {
  return {
    name: 'postmark',
    base: 'https://api.postmarkapp.com',
    path: '/email',
    headers: () => ({ 'x-postmark-server-token': apiKey }),
    body: ({ recipient, subject, text, html }) => ({
      From: from,
      To: recipient,
      Subject: subject,
      TextBody: text,
      HtmlBody: html,
      // A link that goes through somebody else's server first shows them its secret.
      TrackLinks: 'None',
      TrackOpens: false,
      MessageStream: 'outbound',
    }),
    accepted: ({ json }) => (fieldOf(json, 'ErrorCode') === 0 ? textFieldOf(json, 'MessageID') : undefined),
    reason: ({ json }) => textFieldOf(json, 'Message'),
    // Its 422 is about the sender's account as often as about the message.
    isFinal: ({ status, json }) => (status === 422 ? FINAL_CODES.has(fieldOf(json, 'ErrorCode')) : undefined),
  }
}
