import { asRecord, entryOf, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { type Efforts, nearestEffort } from '../wire/fitting/nearest-effort.ts'
import { ownThinking } from '../wire/fitting/own-thinking.ts'
import { withoutSilence } from '../wire/fitting/plain-conversation.ts'
import { unsupported } from '../wire/unsupported-fields.ts'

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

/** Models up to 4.5. Later ones accept no budget, or their documentation advises against it. */
const TAKES_BUDGET = /claude-(?:[1-3]|instant|\w+-4(?:-[0-5])?(?:$|[-@:](?!\d{1,2}(?:\D|$))))/

/** Models that cannot be told not to think. */
const ALWAYS_THINKS = /claude-(?:fable|mythos)/

interface ThinkingFields {
  readonly thinking?: JsonRecord
  readonly effort?: string
  /** The tokens of the answer that thinking may use. */
  readonly budget: number
}

/** The thinking fields of a request. The vendor's own `thinking` takes precedence over `reasoning_effort`. */
export function thinkingFields(
  body: ChatRequest,
  model: string,
  maxTokens: number | undefined,
  drop: Drop,
): ThinkingFields {
  const { reasoning_effort: effort, thinking } = body
  if (isRecord(thinking)) {
    const { budget_tokens: budget } = thinking
    return { thinking, budget: typeof budget === 'number' ? budget : 0 }
  }
  if (effort === undefined || effort === null) return { budget: 0 }
  if (effort === 'none') {
    if (ALWAYS_THINKS.test(model)) throw unsupported('reasoning_effort', 'this model, which always thinks')
    return { thinking: { type: 'disabled' }, budget: 0 }
  }
  const wanted = entryOf(BUDGETS, effort)
  if (wanted === undefined) throw unsupported('reasoning_effort', 'the Messages API')
  if (!TAKES_BUDGET.test(model)) {
    const word = String(nearestEffort(effort, model, EFFORTS))
    return { ...(forcesTools(body) ? {} : { thinking: { type: 'adaptive' } }), effort: word, budget: 0 }
  }
  const budget = Math.min(wanted, (maxTokens ?? Number.POSITIVE_INFINITY) - 1)
  // So short an answer has no room for thinking.
  if (budget < LEAST_BUDGET || forcesTools(body) || continuesUnthought(body)) {
    drop('reasoning_effort')
    return { budget: 0 }
  }
  return { thinking: { type: 'enabled', budget_tokens: budget }, budget }
}

/** The API refuses to think where a tool has to be called. */
function forcesTools({ tools, tool_choice: choice }: ChatRequest): boolean {
  if (!tools?.length) return false
  if (!isRecord(choice)) return choice === 'required'
  return choice.type !== 'allowed_tools' || asRecord(choice.allowed_tools).mode === 'required'
}

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
