/** What is decided of an answer before it is written. */
export interface AnswerFacts {
  /** Its id. */
  readonly id: string
  /** The id of the answer that it continues; null if it begins a conversation. */
  readonly previousId: string | null
  /** The gateway keeps it, so that a later request can continue it. */
  readonly kept: boolean
}
