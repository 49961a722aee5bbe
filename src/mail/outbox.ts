import type { RawBuilder } from 'kysely'
import { wireMailbox } from '../config/mailbox.ts'
import { newTimedId } from '../lib/ids.ts'
import { describeError, type Log } from '../lib/log.ts'
import type { Seal } from '../lib/sealing/seal.ts'
import type { ClaimedEmail, EmailRecord, EmailRecords } from '../stores/sql/people/email-records.ts'
import type { Query } from '../stores/sql/query.ts'
import { type MailContent, MailRefused, type MailSender } from './mail-sender.ts'

/** So many are sent side by side. */
const AT_ONCE = 5
/** Longer than a way of sending may take, so that nobody else sends what is being sent. */
const LEASE_SECONDS = 60
/** Further attempts after the first. The pause before them doubles. */
const RETRIES = 5
const FIRST_PAUSE_SECONDS = 60
const LONGEST_PAUSE_SECONDS = 3600
/** No further e-mails are begun in one run after this: what outlives its answer on Workers has 30 s in all. */
const RUN_MS = 15_000

/** An e-mail that tells of a change. */
export interface Email {
  /** Where the change wants to name it. */
  readonly emailId?: string
  readonly kind: EmailRecord['kind']
  readonly recipient: string
  readonly organizationId?: string | null
  readonly message: MailContent
  /** It is sent only if this holds after the statements before it in the batch: where the change may turn out not to be
   *  one. */
  readonly onlyIf?: RawBuilder<boolean>
}

/** E-mails that wait in the database until they are sent: written with the change that they tell of, so that neither is
 *  without the other, and sent beside it. */
export interface Outbox {
  /** A way of sending is configured. */
  readonly enabled: boolean
  /** The statement that puts an e-mail, sealed, into the outbox, for the batch of the change that it tells of. */
  compose(email: Email): Promise<Query<unknown>>
  /** Sends what is due beside the request. The scheduled job sends what is left. */
  wake(defer: (work: Promise<unknown>) => void): void
  /** Sends what is due. Never rejects. */
  sendDue(signal?: Pick<AbortSignal, 'aborted'>): Promise<void>
  /** Sends one e-mail now, beside the outbox, with what the way of sending said. Rejects with MailRefused. */
  sendNow(recipient: string, message: MailContent): Promise<string>
  /** Forgets what is old. */
  sweep(): Promise<void>
}

export function newEmailId(): string {
  return newTimedId('email')
}

export function outbox(options: {
  /** undefined: nothing is sent. */
  readonly sender: MailSender | undefined
  readonly records: EmailRecords
  readonly seal: Seal
  readonly log: Log
  readonly now: () => number
}): Outbox {
  const { sender, records, seal, log, now } = options

  async function contentOf({ email_id, sealed }: ClaimedEmail): Promise<MailContent> {
    try {
      return JSON.parse(await seal.open(sealed, placeOfEmail(email_id))) as MailContent
    } catch {
      throw new MailRefused('it was sealed under another salt key', { isFinal: true })
    }
  }

  async function send(claim: ClaimedEmail, by: MailSender): Promise<void> {
    const { email_id, kind, attempts } = claim
    try {
      await by.send({ ...(await contentOf(claim)), id: email_id, recipient: wireMailbox(claim.recipient) })
    } catch (error) {
      const pause = pauseAfter(error, attempts)
      log.warn('email.failed', { email_id, kind, attempts, given_up: pause === undefined, error: describeError(error) })
      await records.failed(claim, wordsOf(error), pause)
      return
    }
    await records.sent(claim)
    log.info('email.sent', { email_id, kind, attempts })
  }

  async function sendDue(signal?: Pick<AbortSignal, 'aborted'>): Promise<void> {
    if (!sender) return
    const until = now() + RUN_MS
    try {
      while (!signal?.aborted && now() < until) {
        const claims = await records.claim(AT_ONCE, LEASE_SECONDS)
        // All of them are waited for: a runtime may end what nobody waits for, and what was sent would be sent again.
        const outcomes = await Promise.allSettled(claims.map((claim) => send(claim, sender)))
        const lost = outcomes.find((outcome) => outcome.status === 'rejected')
        if (lost) throw lost.reason
        if (claims.length < AT_ONCE) return
      }
    } catch (error) {
      // What was claimed is due again when its lease ends.
      log.warn('outbox.failed', { error: describeError(error) })
    }
  }

  return {
    enabled: sender !== undefined,
    async compose({ emailId = newEmailId(), kind, recipient, organizationId = null, message, onlyIf }) {
      if (!sender) throw new TypeError('no e-mail can be composed without general_settings.email_provider')
      const sealed = await seal.close(JSON.stringify(message), placeOfEmail(emailId))
      const email = { email_id: emailId, kind, recipient, organization_id: organizationId, sealed }
      return records.insertion(email, onlyIf)
    },
    wake(defer) {
      if (sender) defer(sendDue())
    },
    sendDue,
    sendNow(recipient, message) {
      if (!sender) throw new TypeError('nothing can be sent without general_settings.email_provider')
      return sender.send({ ...message, id: newEmailId(), recipient: wireMailbox(recipient) })
    },
    sweep: () => records.sweep(),
  }
}

/** Where the text of an e-mail belongs. */
export const placeOfEmail = (emailId: string) => `email:${emailId}`

/** undefined: it is given up. */
function pauseAfter(error: unknown, attempts: number): number | undefined {
  const { isFinal, retryAfterSeconds = 0 } = error instanceof MailRefused ? error : { isFinal: false }
  if (isFinal || attempts > RETRIES) return undefined
  const pause = Math.max(FIRST_PAUSE_SECONDS * 2 ** (attempts - 1), retryAfterSeconds)
  return Math.min(pause, LONGEST_PAUSE_SECONDS)
}

/** What an unexpected error says may hold anything. */
function wordsOf(error: unknown): string {
  return error instanceof MailRefused ? error.message : 'it could not be sent'
}
