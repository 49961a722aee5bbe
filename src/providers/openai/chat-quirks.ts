import type { Takes } from '../provider.ts'
import type { ReasoningField } from '../wire/fitting/reasoning-history.ts'

/** Where a vendor's chat differs from OpenAI's. */
export interface ChatQuirks {
  /** Its only name for the limit of output tokens; absent if it accepts both. */
  readonly maxTokens?: 'max_tokens' | 'max_completion_tokens'
  /** It refuses `stream_options` and reports the usage unasked. */
  readonly streamOptions?: false
  /** The only field in which it accepts the reasoning of earlier turns; absent if it accepts any. */
  readonly reasoning?: ReasoningField
  /** Addresses of objects that it reads with the account's credentials. */
  readonly readsOwn?: RegExp
  /** It accepts no reasoning. Its own clients send none, so only translated requests are searched for it. */
  readonly refusesReasoning?: true
  /** It accepts the cache marks of the Messages API. */
  readonly cacheMarks?: true
  /** It refuses fields that it does not know, and OpenAI's hints are among them. Only translated requests are searched for
   *  them. */
  readonly refusesHints?: true
  /** The names of functions and ids of calls that it takes, if fewer than OpenAI. */
  readonly takes?: Takes
  /** The most stop sequences that it takes. */
  readonly stops?: number
  /** Names of its models that refuse `reasoning_effort`. */
  readonly effortless?: RegExp
  /** The member of a chunk that contains the usage, if the chunk itself does not. */
  readonly usageUnder?: string
}

/** OpenAI's own quirks. */
export const OPENAI_QUIRKS = {
  refusesReasoning: true,
  stops: 4,
  effortless: /(^|:)(gpt-3|gpt-4|chatgpt-)/,
} as const satisfies ChatQuirks
