import type { JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { temperatureUpToOne } from '../wire/fitting/within-range.ts'

/** Models before Opus 4.1. Later ones refuse a temperature beside a `top_p`. */
const TAKES_BOTH = /claude-(?:[1-3]|instant|(?:opus|sonnet)-4(?:-0)?(?:$|[-@:](?!\d{1,2}(?:\D|$))))/
/** What the vendor does unless it is told otherwise. */
const USUAL_TEMPERATURE = 1

/** How an answer is sampled. Clients of other vendors send both settings, mostly the usual ones. */
export function samplingFields(body: ChatRequest, model: string, drop: Drop): JsonRecord {
  const temperature = temperatureUpToOne(body.temperature ?? undefined, drop)
  const top_p = body.top_p ?? undefined
  if (temperature === undefined) return top_p === undefined ? {} : { top_p }
  if (top_p === undefined) return { temperature }
  if (TAKES_BOTH.test(model)) return { temperature, top_p }
  if (temperature === USUAL_TEMPERATURE) return { top_p }
  drop('top_p')
  return { temperature }
}
