import { asRecord, hasAnyOf, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { effortOfBudget } from './nearest-effort.ts'
import { schemaFormat } from './schema-format.ts'

/** What clients of some vendors say in chat in words of these, by what every vendor knows; undefined where that has no word
 *  for it. */
const WORDS: Readonly<Record<string, (value: unknown, drop: Drop, body: JsonRecord) => JsonRecord | undefined>> = {
  // OpenRouter's
  reasoning: (value, drop) => (isRecord(value) ? { reasoning_effort: effortIn(value, drop) } : undefined),
  usage(value, drop, { stream }) {
    if (asRecord(value).include === true && stream === true) return { stream_options: { include_usage: true } }
    drop('usage')
    return {}
  },
  include_reasoning: shownAsUsual('include_reasoning', true),
  // Groq's
  reasoning_format: shownAsUsual('reasoning_format', 'parsed'),
  // DeepSeek's, Kimi's and GLM's, and that of the Messages API
  thinking: (value) => (isRecord(value) ? { reasoning_effort: effortOfThinking(value) } : undefined),
  // Gemini's, of its own chat
  extra_body(value) {
    const { google, ...rest } = asRecord(value)
    const { thinking_config, ...others } = asRecord(google)
    if (!isRecord(thinking_config) || Object.keys({ ...rest, ...others }).length > 0) return undefined
    const { thinking_level: level, thinking_budget: budget } = thinking_config
    return { reasoning_effort: level ?? effortIf(undefined, budget) }
  },
  // Cerebras's
  disable_reasoning: (isOff) => ({ reasoning_effort: effortIf(isOff === true ? false : undefined) }),
  // Qwen's
  enable_thinking: (isWanted, _, { thinking_budget: budget }) => ({ reasoning_effort: effortIf(isWanted, budget) }),
  thinking_budget: (budget, _, { enable_thinking: isWanted }) => ({ reasoning_effort: effortIf(isWanted, budget) }),
  // Of servers of open models, whose templates have one of both names for it
  chat_template_kwargs(value) {
    const { enable_thinking, thinking = enable_thinking, ...others } = asRecord(value)
    return Object.keys(others).length === 0 ? { reasoning_effort: effortIf(thinking) } : undefined
  },
  // Perplexity's, and that of servers of open models
  response_format(value) {
    const response_format = schemaFormat(value)
    return response_format && { response_format }
  },
  // Mistral's
  prompt_mode: (mode) => (mode === 'reasoning' ? { reasoning_effort: effortIf(true) } : undefined),
  random_seed: (seed) => ({ seed }),
  safe_prompt: (isWanted) => (isWanted === false ? {} : undefined),
}

/** All of them, for servers that may know any. */
export const VENDOR_WORDS: ReadonlySet<string> = new Set(Object.keys(WORDS))

/** What OpenAI called tools first. */
export const FUNCTIONS = 'functions'

/** Those of vendors whose translation reads `thinking` itself. */
export const THINKING: ReadonlySet<string> = new Set(['thinking'])

/** OpenRouter's and Groq's, whose clients read the reasoning of an answer as `reasoning`. */
export const OF_DETAILS: ReadonlySet<string> = new Set(['reasoning', 'include_reasoning', 'reasoning_format'])

/** Mistral's choice to call some function, in the word that all vendors know, itself among them. */
const ANY = 'any'

/** Whether a request may have words of vendors. */
export const hasVendorWords = (body: JsonRecord) => body.tool_choice === ANY || hasAnyOf(body, VENDOR_WORDS)

/** The words of a request that a vendor does not know, without those that ask for nothing, as changes of it to what every
 *  vendor knows. What the request says in those words, too, stays. */
export function inCommonWords(body: JsonRecord, known: ReadonlySet<string> | undefined, drop: Drop) {
  const changes: Record<string, unknown> = body.tool_choice === ANY ? { tool_choice: 'required' } : {}
  const names: Record<string, string> = {}
  for (const word of VENDOR_WORDS) {
    const value = body[word]
    if (value === undefined || value === null || known?.has(word)) continue
    const common = WORDS[word]?.(value, drop, body)
    if (common === undefined) continue
    changes[word] = common[word]
    for (const name of Object.keys(common)) {
      if (body[name] !== undefined || common[name] === undefined) continue
      changes[name] = common[name]
      names[name] = word
    }
  }
  return { changes, names }
}

/** The effort that OpenRouter's `reasoning` asks for. */
function effortIn({ effort, enabled, max_tokens, exclude }: JsonRecord, drop: Drop): unknown {
  if (exclude === true) drop('reasoning.exclude')
  if (enabled === false) return 'none'
  if (typeof max_tokens === 'number') return effortOfBudget(max_tokens)
  return effort ?? effortIf(enabled)
}

/** The effort that a vendor's `thinking` asks for; none in particular where it leaves that to the model. */
export function effortOfThinking({ type, budget_tokens: budget }: JsonRecord): unknown {
  return effortIf(type === 'disabled' ? false : type === 'enabled' || undefined, budget)
}

function effortIf(isWanted: unknown, budget?: unknown): string | undefined {
  if (isWanted === false || budget === 0) return 'none'
  if (typeof budget === 'number' && budget > 0) return effortOfBudget(budget)
  return isWanted === true ? 'medium' : undefined
}

/** A word for how reasoning is shown, and its value for how it is shown anyway. */
function shownAsUsual(word: string, usual: unknown) {
  return (value: unknown, drop: Drop) => {
    if (value !== usual) drop(word)
    return {}
  }
}
