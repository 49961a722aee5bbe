import { GatewayError } from '../../lib/errors.ts'
import { asRecord, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { type Efforts, nearestEffort } from '../wire/fitting/nearest-effort.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { generationOf } from './generation-of.ts'

/** The thinking budget by effort up to generation 2.5, as Google maps it. */
const BUDGETS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}

/** The thinking levels since generation 3, by their names in chat. */
const LEVELS: Efforts = [
  [/gemini-3-pro/, ['low', 'high']],
  [/pro/, ['low', 'medium', 'high']],
  [/^/, ['minimal', 'low', 'medium', 'high']],
]

/** A model up to generation 2.5 that cannot be told not to think. */
const ALWAYS_THINKS = /2\.5-pro/

/** The thinking settings: from `thinking` with a budget, else from `reasoning_effort`. A client that asks for thinking also
 *  receives the thoughts. */
export function thinkingOf({ thinking, reasoning_effort }: ChatRequest, model: string): JsonRecord | undefined {
  const { type, budget_tokens } = asRecord(thinking)
  if (type === 'disabled') return { thinkingBudget: 0 }
  if (typeof budget_tokens === 'number') return { includeThoughts: true, thinkingBudget: budget_tokens }
  if (reasoning_effort === undefined || reasoning_effort === null) {
    return type === undefined ? undefined : { includeThoughts: true }
  }
  const budget = entryOf(BUDGETS, reasoning_effort)
  if (budget === undefined) {
    const names = Object.keys(BUDGETS).join(', ')
    throw new GatewayError('invalid_request', `'reasoning_effort' must be one of ${names}.`, {
      param: 'reasoning_effort',
    })
  }
  const generation = generationOf(model) ?? 0
  if (reasoning_effort === 'none' && (generation >= 3 || ALWAYS_THINKS.test(model))) {
    throw unsupported('reasoning_effort', 'a model that always thinks', "Ask for 'minimal', or choose another model.")
  }
  // A name without a generation, such as gemini-flash-latest, gets a budget, which every generation accepts.
  if (generation < 3) {
    return budget === 0 ? { thinkingBudget: 0 } : { includeThoughts: true, thinkingBudget: budget }
  }
  const level = nearestEffort(reasoning_effort, model, LEVELS)
  return { includeThoughts: true, thinkingLevel: String(level).toUpperCase() }
}
