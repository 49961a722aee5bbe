/** What an e-mail says. */
export interface MailContent {
  readonly subject: string
  readonly text: string
  readonly html: string
  /** What it asks its reader to open. It is a secret: whoever has it is let in. */
  readonly link?: string
}

/** An e-mail on its way to one recipient. The same id is the same e-mail. */
export interface MailMessage extends MailContent {
  readonly id: string
  readonly recipient: string
}

/** A way of sending e-mail. */
export interface MailSender {
  /** Resolves with what it said when it took the message over. Rejects with MailRefused, after ten seconds at the latest. */
  send(message: MailMessage): Promise<string>
}

/** The message was not taken over. The text is for administrators: what the way of sending said, without any secret. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'
  /** It is about this message, so that no retry will mend it. */
  readonly isFinal: boolean
  /** How long it asks to be left alone. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, { isFinal = false, retryAfterSeconds }: RefusalDetails = {}) {
    super(message)
    this.isFinal = isFinal
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export interface RefusalDetails {
  readonly isFinal?: boolean | undefined
  readonly retryAfterSeconds?: number | undefined
}

/** How long a way of sending may take. */
export const SEND_MS = 10_000
