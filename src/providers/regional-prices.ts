import type { GatewayParams } from '../config/sections/model-list.ts'
import { entryOf } from '../lib/json/lenient.ts'
import { GLOBAL, REGIONAL_TIMES } from './prices/claude.ts'

/** Where a deployment is, and which model it has there. */
export type Place = Partial<Pick<GatewayParams, 'region' | 'api_base' | 'base_model'>>

const CLAUDE: ReadonlySet<string> = new Set(GLOBAL)
const AT_OPENAI = /^https:\/\/[a-z]{2}\.api\.openai\.com(\/|$)/
const AT_XAI = /^https:\/\/us\.api\.x\.ai(\/|$)/

/** Whether a vendor bills a tenth more for a model because calls stay in a region. Of Bedrock the names of models tell
 *  it, so that its table has these prices. */
const REGIONAL: Readonly<Record<string, (model: string, place: Place) => boolean>> = {
  // Models since March 2026.
  openai: (model, { api_base = '' }) => /^gpt-(5\.[4-9]|[6-9])/.test(model) && AT_OPENAI.test(api_base),
  // Claude from Sonnet 4.5 on.
  vertex: (model, { region = 'global' }) => CLAUDE.has(model) && region !== 'global',
  xai: (_, { api_base = '' }) => AT_XAI.test(api_base),
}

/** How many times its list prices a model costs at a place. `model`: as the table names it. */
export function regionalTimes(provider: string, model: string, place: Place): number {
  return entryOf(REGIONAL, provider)?.(model, place) ? REGIONAL_TIMES : 1
}
