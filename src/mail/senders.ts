import { ConfigError, type Mistake } from '../config/config-error.ts'
import type { Config } from '../config/schema.ts'
import type { EmailProvider } from '../config/sections/email-settings.ts'
import type { Log } from '../lib/log.ts'
import { type Secret, secret } from '../lib/secret.ts'
import type { Transport } from '../transport/transport.ts'
import { httpSender, type MailService } from './http-sender.ts'
import { logSender } from './log.ts'
import type { MailSender } from './mail-sender.ts'
import { postmark } from './postmark.ts'
import { resend } from './resend.ts'
import { sendgrid } from './sendgrid.ts'

export type MailSettings = Config['general_settings']

interface Means {
  readonly transport: Transport
  readonly log: Log
  /** What speaks SMTP, where the runtime can. */
  readonly smtp: MailSender | undefined
}

const NO_SMTP = {
  path: 'general_settings.email_provider',
  message: 'smtp needs Node; on Workers use resend, sendgrid or postmark',
}

const SENDERS: Readonly<Record<EmailProvider, (settings: MailSettings, means: Means) => MailSender>> = {
  smtp: (_settings, { smtp }) => {
    if (smtp) return smtp
    throw new ConfigError([NO_SMTP])
  },
  resend: byHttp(resend),
  sendgrid: byHttp(sendgrid),
  postmark: byHttp(postmark),
  log: (_settings, { log }) => logSender(log),
}

/** The way of sending that is configured; undefined: none. */
export function mailSender(settings: MailSettings, means: Means): MailSender | undefined {
  const { email_provider: provider } = settings
  return provider && SENDERS[provider](settings, means)
}

/** What keeps e-mail from being sent where the runtime does not speak SMTP. */
export function missingSmtp({ general_settings: settings }: Pick<Config, 'general_settings'>): Mistake[] {
  return settings.email_provider === 'smtp' ? [NO_SMTP] : []
}

function byHttp(service: (from: string, apiKey: Secret) => MailService) {
  return ({ email_from = '', email_api_key = secret(''), email_api_base }: MailSettings, { transport }: Means) =>
    httpSender(service(email_from, email_api_key), email_api_base, transport)
}
