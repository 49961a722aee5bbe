import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { baseAddress, checked, flag, headerSecret, positiveCount, secretText, text } from '../fields.ts'

const EMAIL_PROVIDERS = ['smtp', 'resend', 'sendgrid', 'postmark', 'log'] as const
export type EmailProvider = (typeof EMAIL_PROVIDERS)[number]

const sender = () =>
  checked((value) =>
    /^([^<>\r\n]+<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(value)
      ? undefined
      : 'must be an address, or a name and <address>',
  )
const baseUrl = () =>
  checked((value) => {
    const url = URL.parse(value)
    return (url?.protocol === 'http:' || url?.protocol === 'https:') && url.username === ''
      ? undefined
      : 'must be an absolute http:// or https:// address'
  })

/** Keys of `general_settings` about outgoing e-mail. */
export const emailSettings = lazily(() => ({
  email_provider: z
    .enum(EMAIL_PROVIDERS)
    .optional()
    .describe('The service that sends e-mail; log writes it to the log instead.'),
  email_base_url: baseUrl().optional().describe('Absolute address that the links in e-mails begin with.'),
  email_from: sender().optional().describe('Sender of e-mails.'),
  email_api_key: headerSecret().optional().describe('Key of resend, sendgrid or postmark.'),
  email_api_base: baseAddress()
    .optional()
    .describe('Address of the API of resend, sendgrid or postmark, if it is not the default.'),
  email_smtp_host: text().optional().describe('Host of the SMTP server.'),
  email_smtp_port: positiveCount().max(65_535).default(587).describe('Port of the SMTP server.'),
  email_smtp_secure: flag()
    .optional()
    .describe('Whether the SMTP connection begins with TLS; left out, it does on port 465.'),
  email_smtp_username: text().optional().describe('User name at the SMTP server.'),
  email_smtp_password: secretText().optional().describe('Password at the SMTP server.'),
}))

const NEEDS: Readonly<Record<EmailProvider, readonly (keyof ReturnType<typeof emailSettings>)[]>> = {
  smtp: ['email_base_url', 'email_from', 'email_smtp_host'],
  resend: ['email_base_url', 'email_from', 'email_api_key'],
  sendgrid: ['email_base_url', 'email_from', 'email_api_key'],
  postmark: ['email_base_url', 'email_from', 'email_api_key'],
  log: ['email_base_url'],
}

/** Required fields of the chosen provider that are missing, each with the reason. */
export function missingEmailSettings(
  settings: {
    readonly [field in keyof ReturnType<typeof emailSettings>]?: unknown
  },
): [field: string, reason: string][] {
  const provider = settings.email_provider as EmailProvider
  // The value has not been validated: it may be the name of an inherited property.
  if (!Object.hasOwn(NEEDS, provider ?? '')) return []
  return NEEDS[provider]
    .filter((field) => settings[field] === undefined)
    .map((field) => [field, `for email_provider ${provider}`])
}
