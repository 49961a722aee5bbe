import type { Log } from '../lib/log.ts'
import type { MailSender } from './mail-sender.ts'

/** Writes e-mails to the log instead of sending them, with the link that lets people in: for trying out. */
export function logSender(log: Log): MailSender {
  return {
    async send({ recipient, subject, link }) {
      log.warn('email.written', { recipient, subject, ...(link === undefined ? {} : { link }) })
      return 'written to the log'
    },
  }
}
