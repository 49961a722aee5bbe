/** Where a vendor's answers differ from OpenAI's. */
export interface AnswerQuirks {
  /** It refuses `stream_options` and reports the usage unasked. */
  readonly usageUnasked?: true
  /** The member of a chunk that contains the usage, if the chunk itself does not. */
  readonly usageUnder?: string
  /** It writes reasoning and text as parts of the content. */
  readonly parts?: true
}
