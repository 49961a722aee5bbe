import type { ModelInfo } from '../../config/sections/model-list.ts'
import { nanoOf } from '../../lib/money.ts'
import type { Mode } from '../mode.ts'
import type { Usage } from '../usage.ts'
import type { PricePart } from './price-parts.ts'

/** The cost of a call at a deployment in integer nano-dollars; without a price what its provider says; undefined, never 0,
 *  if neither is known. A call that has a `batch` costs what a batch's calls do. */
export function costNano(
  mode: Mode,
  info: ModelInfo,
  usage: Usage,
  { batch }: { readonly batch?: unknown } = {},
): number | undefined {
  for (const tariff of mode.tariffs) {
    const dollars = tariff.cost(info, usage, Boolean(batch))
    if (dollars !== undefined) return nanoOf(dollars)
  }
  return usage.reportedNano
}

/** The cost at a deployment's own prices with what it consists of, for those who ask how it comes about. */
export function pricedParts(
  mode: Mode,
  info: ModelInfo,
  usage: Usage,
  isBatch: boolean,
): { readonly nano: number; readonly parts: readonly PricePart[] } | undefined {
  for (const tariff of mode.tariffs) {
    const parts: PricePart[] = []
    const dollars = tariff.cost(info, usage, isBatch, parts)
    if (dollars !== undefined) return { nano: nanoOf(dollars), parts }
  }
  return undefined
}

/** Whether a deployment has the prices for calls of this mode. */
export function priced(info: ModelInfo, mode: Mode): boolean {
  return mode.tariffs.some((tariff) => tariff.priced(info))
}

/** The cost of one unit at a deployment, for comparing deployments; undefined if it has no price. */
export function unitCost(mode: Mode, info: ModelInfo): number | undefined {
  for (const tariff of mode.tariffs) {
    const cost = tariff.unitCost(info)
    if (cost !== undefined) return cost
  }
  return undefined
}
