import { GatewayError } from '../../lib/errors.ts'
import { entryOf, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { unspoken } from '../wire/unspoken-fields.ts'

/** Tokens to think with, for models that are told a number; it must be less than the tokens of the whole answer. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 2048, medium: 8192, high: 24_576 }
const LEAST_BUDGET = 1024

/** The words of models that decide themselves how long to think. */
const EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
}

/** Models up to 4.5. Later ones take no budget, or advise against it. */
const TOLD_A_NUMBER = /claude-(?:[1-3]|instant|\w+-4(?:-[0-5])?(?:$|[-@:](?!\d{1,2}(?:\D|$))))/

interface ThinkingFields {
  readonly thinking?: JsonRecord
  readonly effort?: string
  /** Tokens that thinking takes of the answer's. */
  readonly budget: number
}

/** How a model is asked to think. The vendor's own `thinking` says more than `reasoning_effort`, and passes. */
export function thinkingFields(body: ChatRequest, model: string, maxTokens: number | undefined): ThinkingFields {
  const { reasoning_effort: effort, thinking } = body
  if (isRecord(thinking)) {
    const { budget_tokens: told } = thinking
    return { thinking, budget: typeof told === 'number' ? told : 0 }
  }
  if (effort === undefined || effort === null) return { budget: 0 }
  if (effort === 'none') return { thinking: { type: 'disabled' }, budget: 0 }
  if (!TOLD_A_NUMBER.test(model)) {
    const word = entryOf(EFFORTS, effort)
    if (word === undefined) throw unspoken('reasoning_effort', 'the Messages API')
    return { thinking: { type: 'adaptive' }, effort: word, budget: 0 }
  }
  const wanted = entryOf(BUDGETS, effort)
  if (wanted === undefined) throw unspoken('reasoning_effort', 'the Messages API of this model')
  const budget = Math.min(wanted, (maxTokens ?? Number.POSITIVE_INFINITY) - 1)
  if (budget < LEAST_BUDGET) {
    throw new GatewayError(
      'invalid_request',
      `'reasoning_effort' needs an answer of more than ${LEAST_BUDGET} tokens. Raise the limit, or leave the effort out.`,
      { param: 'reasoning_effort' },
    )
  }
  return { thinking: { type: 'enabled', budget_tokens: budget }, budget }
}
