import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import type { ModeName } from '../../../modes/mode.ts'
import { priced } from '../../../modes/price/cost.ts'
import type { Group } from '../../../routing/deployment.ts'
import { MODEL_ENDPOINTS } from '../../v1/model-endpoints.ts'

const PRICES = [
  'input_cost_per_token',
  'output_cost_per_token',
  'cached_input_cost_per_token',
  'input_cost_per_image',
  'cost_per_image',
  'cost_per_audio_second',
  'cost_per_character',
  'cost_per_rerank_unit',
] as const

/** What one unit costs at the cheapest and at the dearest deployment, in US dollars. */
export const shownPrices = lazily(() =>
  z
    .partialRecord(z.enum(PRICES), z.object({ from: z.number(), to: z.number() }))
    .describe('US dollars by unit, at the cheapest and at the dearest deployment; of images over all sizes.'),
)

export function priceRanges(
  { deployments }: Group,
  modes: readonly ModeName[],
): { readonly prices: z.output<ReturnType<typeof shownPrices>>; readonly priced: boolean } {
  const prices: z.output<ReturnType<typeof shownPrices>> = {}
  for (const name of PRICES) {
    const costs = deployments.flatMap(({ info }) => numbersOf((info as Readonly<Record<string, unknown>>)[name]))
    if (costs.length > 0) prices[name] = { from: Math.min(...costs), to: Math.max(...costs) }
  }
  const served = MODEL_ENDPOINTS.map(({ mode }) => mode).filter(({ name }) => modes.includes(name))
  const isPriced = deployments.every(({ info, adapter }) =>
    served.every((mode) => !adapter(mode.name) || priced(info, mode)),
  )
  return { prices, priced: isPriced }
}

/** A price, or the prices of a map by size. */
function numbersOf(price: unknown): number[] {
  if (typeof price === 'number') return [price]
  return typeof price === 'object' && price !== null
    ? Object.values(price).filter((one) => typeof one === 'number')
    : []
}
