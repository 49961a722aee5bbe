import { hostname } from 'node:os'
import { createTransport } from 'nodemailer'
import { wireMailbox } from '../config/mailbox.ts'
import { reveal, secret } from '../lib/secret.ts'
import { atMost } from '../lib/timers/at-most.ts'
import { type MailMessage, MailRefused, type MailSender, SEND_MS } from './mail-sender.ts'
import { mailboxOf } from './mailbox-of.ts'
import { refusalWords } from './refusal-words.ts'
import type { MailSettings } from './senders.ts'

/** Between programs of one machine lies no network, and certificates are for networks. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[?::1\]?)$/i

/** Sends e-mail by SMTP, never in plain text over a network: the connection begins with TLS, or is made one by STARTTLS
 *  before anything is said. */
export function smtpSender(settings: MailSettings): MailSender {
  const { email_smtp_host: host = '', email_smtp_port: port, email_smtp_secure: isSecure = port === 465 } = settings
  const { email_smtp_username: user, email_smtp_password: password = secret(''), email_from: from = '' } = settings
  const isLocal = LOOPBACK.test(host)
  const domain = wireMailbox(mailboxOf(from).address).replace(/^.*@/, '')
  const options = {
    // A machine whose name has no domain, as in a container, would greet as [127.0.0.1], which relays refuse.
    ...(hostname().includes('.') || !domain.includes('.') ? {} : { name: domain }),
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port,
    secure: isSecure,
    requireTLS: !isLocal,
    tls: { rejectUnauthorized: !isLocal },
    connectionTimeout: SEND_MS,
    greetingTimeout: SEND_MS,
    socketTimeout: SEND_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(user === undefined ? {} : { auth: { user, pass: reveal(password) } }),
  }

  async function deliver({ id, recipient, subject, text, html }: MailMessage): Promise<string> {
    const transport = createTransport(options)
    try {
      const sending = transport.sendMail({
        from,
        // As parts: a text is read as a list of addresses.
        to: { name: '', address: recipient },
        subject,
        text,
        html,
        messageId: `<${id}@${domain}>`,
        headers: { 'auto-submitted': 'auto-generated' },
      })
      const done = await atMost(SEND_MS, sending)
      if (!done) throw new MailRefused(`${host} has not taken it over for ${SEND_MS / 1000} seconds`)
      return done.value.response
    } finally {
      transport.close()
    }
  }

  const encoded = (text: string) => secret(Buffer.from(text).toString('base64'))
  // A login shows them in base64, and some servers repeat the line that they refuse.
  const credentials = {
    password,
    login: encoded(reveal(password)),
    plain: encoded(`\0${user}\0${reveal(password)}`),
  }

  return {
    async send(message) {
      try {
        return refusalWords(await deliver(message), message, credentials)
      } catch (error) {
        if (error instanceof MailRefused) throw error
        throw new MailRefused(refusalWords(wordsOf(error), message, credentials), { isFinal: isFinal(error) })
      }
    },
  }
}

interface SmtpError {
  readonly code?: string
  readonly command?: string
  readonly response?: string
  readonly responseCode?: number
  readonly message?: string
}

/** The server's own words, else what happened to the connection. */
function wordsOf(error: unknown): string {
  const { code = 'ERROR', command = code, response, message } = error as SmtpError
  return `${command}: ${response ?? message}`
}

/** A 5yz of this recipient or of this message; of the connection, the login or the sender it may be mended. */
function isFinal(error: unknown): boolean {
  const { code, command, responseCode = 0 } = error as SmtpError
  return responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE') && command !== 'MAIL FROM'
}
