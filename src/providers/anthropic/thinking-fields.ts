import { entryOf, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { unsupported } from '../wire/unsupported-fields.ts'

/** The thinking budget by effort, for models that take a budget; it has to be less than the limit of the answer. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 2048, medium: 8192, high: 24_576 }
const LEAST_BUDGET = 1024

/** The efforts of models that choose the budget themselves. */
const EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
}

/** Models up to 4.5. Later ones accept no budget, or their documentation advises against it. */
const TAKES_BUDGET = /claude-(?:[1-3]|instant|\w+-4(?:-[0-5])?(?:$|[-@:](?!\d{1,2}(?:\D|$))))/

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
  if (effort === 'none') return { thinking: { type: 'disabled' }, budget: 0 }
  if (!TAKES_BUDGET.test(model)) {
    const word = entryOf(EFFORTS, effort)
    if (word === undefined) throw unsupported('reasoning_effort', 'the Messages API')
    return { thinking: { type: 'adaptive' }, effort: word, budget: 0 }
  }
  const wanted = entryOf(BUDGETS, effort)
  if (wanted === undefined) throw unsupported('reasoning_effort', 'the Messages API of this model')
  const budget = Math.min(wanted, (maxTokens ?? Number.POSITIVE_INFINITY) - 1)
  if (budget < LEAST_BUDGET) {
    // So short an answer has no room for thinking.
    drop('reasoning_effort')
    return { budget: 0 }
  }
  return { thinking: { type: 'enabled', budget_tokens: budget }, budget }
}
