import type { Takes } from '../provider.ts'
import type { AnswerQuirks } from './answers/answer-quirks.ts'
import type { ConversationQuirks } from './fitting/conversation.ts'
import type { EffortQuirks } from './fitting/efforts.ts'
import type { FieldQuirks } from './fitting/fields.ts'
import type { FormatQuirks } from './fitting/formats.ts'
import type { FunctionQuirks } from './fitting/functions.ts'
import type { LimitQuirks } from './fitting/limit.ts'
import type { ToolChoiceQuirks } from './fitting/tool-choice.ts'

/** Where a vendor's chat differs from OpenAI's, by what differs. The rules of each group stand beside the code that keeps
 *  them. */
export interface ChatQuirks {
  readonly conversation?: ConversationQuirks
  readonly fields?: FieldQuirks
  readonly limit?: LimitQuirks
  readonly efforts?: EffortQuirks
  readonly functions?: FunctionQuirks
  readonly toolChoice?: ToolChoiceQuirks
  readonly formats?: FormatQuirks
  readonly answers?: AnswerQuirks
  /** It takes schemas of records alone, without tuples, with references to their definitions alone: of functions and of
   *  formats. */
  readonly definedSchemas?: true
  /** The names of functions and ids of calls that it takes, if fewer than OpenAI. */
  readonly takes?: Takes
  /** Addresses of objects that it reads with the account's credentials. */
  readonly readsOwn?: RegExp
}

/** OpenAI's own quirks. */
export const OPENAI_QUIRKS = {
  conversation: {
    reasoning: 'none',
    strictCalls: true,
    longestCallId: 40,
    instructionsAnywhere: true,
    takesRefusals: true,
  },
  fields: {
    refuses: ['top_k'],
    refusedBySome: ['stop', 'logprobs', 'top_logprobs'],
    stops: 4,
    // Since 5.1 the models are asked to reason; from 5.5 on they do it unasked.
    samplesAlone: (model: string, effort: unknown) =>
      /(^|:)(o\d|gpt-([5-9]|\d\d)(?![\w.-]*-chat))/.test(model) &&
      effort !== 'none' &&
      (typeof effort === 'string' || !/(^|:)gpt-5\.[1-4]/.test(model)),
  },
  limit: { newer: /(^|:)(o\d|gpt-([5-9]|\d\d))/ },
  efforts: {
    taken: [
      [/(^|:)(gpt-3|gpt-4|chatgpt-)|-chat(-|$)/, []],
      [/(^|:)gpt-5-pro/, ['high']],
      [/(^|:)gpt-5(?!\.)/, ['minimal', 'low', 'medium', 'high']],
      [/(^|:)gpt-5\.1(?!-codex-max)/, ['none', 'low', 'medium', 'high']],
      [/(^|:)gpt-(5\.|6-sol|[\d.]+-(luna|terra))/, ['none', 'low', 'medium', 'high', 'xhigh']],
      [/(^|:)gpt-\d/, ['low', 'medium', 'high', 'xhigh']],
      [/(^|:)o\d/, ['low', 'medium', 'high']],
    ],
    own: true,
    plainWithTools: /(^|:)gpt-(5\.[4-9]|[6-9]|\d\d)/,
    toldNotToReason: /(^|:)gpt-(5\.[6-9]|[6-9]|\d\d)/,
  },
  toolChoice: { allowsTools: true },
} as const satisfies ChatQuirks
