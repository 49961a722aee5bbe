import { asRecord, entryOf, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { forcesTools } from '../wire/fitting/asked-call.ts'
import { type Efforts, effortOfBudget, nearestEffort } from '../wire/fitting/nearest-effort.ts'
import { ownThinking } from '../wire/fitting/own-thinking.ts'
import { withoutSilence } from '../wire/fitting/plain-conversation.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { claudeVersion } from './claude-version.ts'

/** With the usual limit no more than the 32,000 tokens that every model which thinks can write. */
const MOST_BUDGET = 23_808
/** The thinking budget by effort, for models that take a budget; it has to be less than the limit of the answer. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: MOST_BUDGET,
  xhigh: MOST_BUDGET,
  max: MOST_BUDGET,
}
const LEAST_BUDGET = 1024

/** The efforts of models that choose the budget themselves. */
const EFFORTS: Efforts = [
  [/claude-[a-z]+-4-6/, ['low', 'medium', 'high', 'max']],
  [/^/, ['low', 'medium', 'high', 'xhigh', 'max']],
]

/** Models that take a budget: those up to 4.5. Later ones accept none, or their documentation advises against it. */
const takesBudget = (model: string) => claudeVersion(model) <= 405

/** What a model is told that is not to think. Since 5.5 Sonnet thinks between its calls at least, and the larger models
 *  cannot be told, as some before. */
function unthinking(model: string, param: string): JsonRecord {
  const isLate = claudeVersion(model) >= 505
  if (isLate && /sonnet/.test(model)) return { type: 'between_tools' }
  if ((isLate && !/haiku/.test(model)) || /claude-(?:fable|mythos)/.test(model)) {
    throw unsupported(param, 'this model, which always thinks')
  }
  return { type: 'disabled' }
}

/** Since 4.7 thoughts are shown only if they are asked for. */
const SHOWN: JsonRecord = { type: 'adaptive', display: 'summarized' }

interface ThinkingFields {
  readonly thinking?: JsonRecord
  readonly effort?: string
  /** The tokens of the answer that thinking may use. */
  readonly budget: number
}

/** The thinking fields of a request. The vendor's own `thinking` takes precedence over `reasoning_effort`; its budget, which
 *  models since 4.7 refuse, becomes the nearest effort. Other vendors enable thinking without a budget. */
export function thinkingFields(
  body: ChatRequest,
  model: string,
  maxTokens: number | undefined,
  drop: Drop,
): ThinkingFields {
  const own = isRecord(body.thinking) ? body.thinking : undefined
  const { type, budget_tokens } = own ?? {}
  if (type === 'disabled') return { thinking: unthinking(model, 'thinking'), budget: 0 }
  const isOpen = type === 'enabled' && budget_tokens === undefined
  const isRefused = !isOpen && refusesBudget(type, model)
  if (own && !isOpen && !isRefused) {
    return { thinking: own, budget: typeof budget_tokens === 'number' ? budget_tokens : 0 }
  }
  const asked = body.reasoning_effort ?? (isOpen ? 'medium' : undefined)
  const effort = isRefused ? effortOfBudget(Number(budget_tokens)) : asked
  if (effort === undefined || effort === null) return { budget: 0 }
  if (effort === 'none') return { thinking: unthinking(model, 'reasoning_effort'), budget: 0 }
  const wanted = entryOf(BUDGETS, effort)
  if (wanted === undefined) throw unsupported('reasoning_effort', 'the Messages API')
  if (!takesBudget(model)) {
    const word = String(nearestEffort(effort, model, EFFORTS))
    const thinking = Number.isNaN(claudeVersion(model)) ? { type: 'adaptive' } : SHOWN
    return { ...(forcesTools(body) ? {} : { thinking }), effort: word, budget: 0 }
  }
  const budget = Math.min(wanted, (maxTokens ?? Number.POSITIVE_INFINITY) - 1)
  // So short an answer has no room for thinking.
  if (budget < LEAST_BUDGET || forcesTools(body) || continuesUnthought(body)) {
    drop('reasoning_effort')
    return { budget: 0 }
  }
  return { thinking: { type: 'enabled', budget_tokens: budget }, budget }
}

/** The changes of a request that is relayed to a model which refuses a budget of thoughts: it becomes the nearest effort. */
export function thinkingChanges({ thinking, output_config }: ModelRequest, model: string): JsonRecord {
  const { type, budget_tokens, display } = asRecord(thinking)
  if (!refusesBudget(type, model)) return {}
  const effort = nearestEffort(effortOfBudget(Number(budget_tokens)), model, EFFORTS)
  return {
    thinking: display === undefined ? SHOWN : { ...SHOWN, display },
    output_config: { effort, ...asRecord(output_config) },
  }
}

/** Models since 4.7 choose the budget themselves. */
const refusesBudget = (type: unknown, model: string) => type === 'enabled' && claudeVersion(model) >= 407

/** The API refuses to think on after calls before which it did not think, or whose thoughts a client did not keep; also
 *  where the user has added words to the results, which are one turn with them. */
function continuesUnthought({ messages }: ChatRequest): boolean {
  let results = false
  for (const message of withoutSilence(messages, false).toReversed()) {
    if (message.role === 'tool') results = true
    if (message.role !== 'assistant') continue
    if (!results) return false
    if (ownThinking(message).length === 0) return true
    results = false
  }
  return false
}
