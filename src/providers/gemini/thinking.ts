import { GatewayError } from '../../lib/errors.ts'
import { asRecord, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { type Efforts, effortOfBudget, nearestEffort } from '../wire/fitting/nearest-effort.ts'
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
  [/gemini-(3(\.[1-6])?-flash|.*flash-lite)/, ['minimal', 'low', 'medium', 'high']],
  [/gemini-4-(hydrogen|neon)/, ['low', 'medium', 'high', 'xhigh']],
  [/^/, ['low', 'medium', 'high']],
]

/** A model up to generation 2.5 that cannot be told not to think. */
const ALWAYS_THINKS = /2\.5-pro/

/** The thinking settings: from `thinking` with a budget, else from `reasoning_effort`. A client that asks for thinking also
 *  receives the thoughts. */
export function thinkingOf({ thinking, reasoning_effort }: ChatRequest, model: string): JsonRecord | undefined {
  const { type, budget_tokens } = asRecord(thinking)
  const generation = generationOf(model) ?? 0
  const isOff = type === 'disabled'
  if (isOff || typeof budget_tokens === 'number') {
    const budget = isOff ? 0 : Number(budget_tokens)
    // Models since generation 4 refuse budgets.
    if (generation >= 4) return levelOf(budget === 0 ? 'none' : effortOfBudget(budget), model, 'thinking')
    return isOff ? { thinkingBudget: 0 } : { includeThoughts: true, thinkingBudget: budget }
  }
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
  if (generation >= 3) return levelOf(String(reasoning_effort), model, 'reasoning_effort')
  if (budget === 0 && ALWAYS_THINKS.test(model)) throw alwaysThinks('reasoning_effort')
  return budget === 0 ? { thinkingBudget: 0 } : { includeThoughts: true, thinkingBudget: budget }
}

function levelOf(effort: string, model: string, param: string): JsonRecord {
  if (effort === 'none') throw alwaysThinks(param)
  return { includeThoughts: true, thinkingLevel: String(nearestEffort(effort, model, LEVELS)).toUpperCase() }
}

const alwaysThinks = (param: string) =>
  unsupported(param, 'a model that always thinks', "Ask for 'minimal', or choose another model.")
