import { GatewayError } from '../../lib/errors.ts'
import { asRecord, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { unspoken } from '../wire/unspoken-fields.ts'
import { generationOf } from './api-name.ts'

/** Tokens to think with, up to generation 2.5: Google's own numbers for the same words. */
const BUDGETS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}

/** The level to think at, since generation 3. */
const LEVELS: Readonly<Record<string, string>> = {
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/** How much the model may think: from `thinking` with a number of tokens, else from `reasoning_effort`. Whoever asks for
 *  thinking gets to see it. */
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
  // A name that does not tell, such as gemini-flash-latest: budgets are understood by every generation.
  if ((generationOf(model) ?? 0) < 3) {
    return budget === 0 ? { thinkingBudget: 0 } : { includeThoughts: true, thinkingBudget: budget }
  }
  const level = entryOf(LEVELS, reasoning_effort)
  if (!level) {
    throw unspoken('reasoning_effort', 'Gemini 3, which always thinks', "Ask for 'minimal', or choose another model.")
  }
  return { includeThoughts: true, thinkingLevel: level }
}
