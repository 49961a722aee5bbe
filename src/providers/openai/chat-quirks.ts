import type { Takes } from '../provider.ts'
import type { Efforts } from '../wire/fitting/nearest-effort.ts'
import type { ReasoningField } from '../wire/fitting/reasoning-history.ts'

/** Where a vendor's chat differs from OpenAI's. */
export interface ChatQuirks {
  /** Its only name for the limit of output tokens; absent if it accepts both. */
  readonly maxTokens?: 'max_tokens' | 'max_completion_tokens'
  /** Its models that know the newer name of the limit alone. */
  readonly newerLimit?: RegExp
  /** It refuses `stream_options` and reports the usage unasked. */
  readonly streamOptions?: false
  /** The only field in which it accepts the reasoning of earlier turns; absent if it accepts any. */
  readonly reasoning?: ReasoningField
  /** It refuses earlier answers without the field of their reasoning: what it takes in the place of none. */
  readonly noReasoning?: string
  /** Its answers have `reasoning_details`, which it wants back. */
  readonly reasoningDetails?: true
  /** Addresses of objects that it reads with the account's credentials. */
  readonly readsOwn?: RegExp
  /** It accepts the cache marks of the Messages API. */
  readonly cacheMarks?: true
  /** It refuses what only other vendors know of an answer and its calls. */
  readonly strictCalls?: true
  /** The longest id of a call that it takes, where requests in chat may have longer ones. */
  readonly longestCallId?: number
  /** It refuses fields that it does not know, in messages, too: those of OpenAI's hints. Requests in chat are searched for
   *  them as well, since clients send some unasked. */
  readonly unknownHints?: readonly string[]
  /** The names of functions and ids of calls that it takes, if fewer than OpenAI. */
  readonly takes?: Takes
  /** It takes instructions anywhere in a conversation. Templates of open models take one message, at the beginning. Only
   *  translated requests are searched for others. */
  readonly instructionsAnywhere?: true
  /** It takes refusals of earlier turns as such. To others they are text. */
  readonly takesRefusals?: true
  /** It can be told which of the functions are allowed. To others only those are offered. */
  readonly allowsTools?: true
  /** It refuses functions without a description of their parameters. */
  readonly needsParameters?: true
  /** It refuses those whose description has no properties, too. */
  readonly needsProperties?: true
  /** It refuses functions of which some are strict and others are not. */
  readonly sameStrictness?: true
  /** It takes schemas of records alone, without tuples, with references to their definitions alone. */
  readonly definedSchemas?: true
  /** It takes no schema for an answer. */
  readonly withoutSchemas?: true
  /** It takes a format for an answer only with a schema. */
  readonly schemasAlone?: true
  /** It takes no format for an answer beside functions. */
  readonly formatsAlone?: true
  /** The most stop sequences that it takes. */
  readonly stops?: number
  /** Further fields that it refuses, which do not change the meaning of an answer. */
  readonly refuses?: readonly string[]
  /** The efforts that its models take. */
  readonly efforts?: Efforts
  /** The efforts of requests in chat are its own words, and are left to it. */
  readonly ownEfforts?: true
  /** Its models that take no effort beside functions in chat. */
  readonly plainWithTools?: RegExp
  /** Those of them that reason unasked, and have to be told not to. */
  readonly toldNotToReason?: RegExp
  /** Its models that reason unless `thinking` tells them not to, and refuse to be made to call a function while they do. */
  readonly stopsThinking?: RegExp
  /** Its models that always reason, and refuse to be made to call a function. */
  readonly callsUnforced?: RegExp
  /** Its models that can be made to call a function, but not a certain one. */
  readonly callsAny?: RegExp
  /** Whether a model that reasons so much refuses to be told how to sample. */
  readonly samplesAlone?: (model: string, effort: unknown) => boolean
  /** The highest temperature that it takes, if chat's is higher. */
  readonly hottest?: number
  /** Its name for `seed`. */
  readonly seed?: string
  /** It wants an answer between the result of a tool and the user's next words, and refuses answers that say nothing. */
  readonly answersResults?: true
  /** It refuses answers that say nothing, even where they have reasoning. */
  readonly refusesSilence?: true
  /** It takes text as a string alone, and wants one in every message. */
  readonly stringContents?: true
  /** It refuses to go on with the words that a conversation ends with, unless they are marked. */
  readonly marksPrefill?: true
  /** It knows no names of participants. */
  readonly nameless?: true
  /** It reads documents as `document_url`, and fetches them. */
  readonly documentUrls?: true
  /** It writes reasoning and text as parts of the content. */
  readonly partsInAnswers?: true
  /** The member of a chunk that contains the usage, if the chunk itself does not. */
  readonly usageUnder?: string
}

/** OpenAI's own quirks. */
export const OPENAI_QUIRKS = {
  reasoning: 'none',
  strictCalls: true,
  longestCallId: 40,
  instructionsAnywhere: true,
  takesRefusals: true,
  allowsTools: true,
  stops: 4,
  refuses: ['top_k'],
  efforts: [
    [/(^|:)(gpt-3|gpt-4|chatgpt-)|-chat(-|$)/, []],
    [/(^|:)gpt-5-pro/, ['high']],
    [/(^|:)gpt-5(?!\.)/, ['minimal', 'low', 'medium', 'high']],
    [/(^|:)gpt-5\.1(?!-codex-max)/, ['none', 'low', 'medium', 'high']],
    [/(^|:)gpt-(5\.|6-sol|[\d.]+-(luna|terra))/, ['none', 'low', 'medium', 'high', 'xhigh']],
    [/(^|:)gpt-\d/, ['low', 'medium', 'high', 'xhigh']],
    [/(^|:)o\d/, ['low', 'medium', 'high']],
  ],
  ownEfforts: true,
  newerLimit: /(^|:)(o\d|gpt-([5-9]|\d\d))/,
  plainWithTools: /(^|:)gpt-(5\.[4-9]|[6-9]|\d\d)/,
  toldNotToReason: /(^|:)gpt-(5\.[6-9]|[6-9]|\d\d)/,
  // Since 5.1 the models are asked to reason; from 5.5 on they do it unasked.
  samplesAlone: (model, effort) =>
    /(^|:)(o\d|gpt-([5-9]|\d\d)(?![\w.-]*-chat))/.test(model) &&
    effort !== 'none' &&
    (typeof effort === 'string' || !/(^|:)gpt-5\.[1-4]/.test(model)),
} as const satisfies ChatQuirks
