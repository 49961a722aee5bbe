import type { ModelInfo } from '../../config/sections/model-list.ts'
import { nanoOf } from '../../lib/money.ts'
import type { Mode } from '../mode.ts'
import type { Usage } from '../usage.ts'

/** What a call costs at a deployment, in integer nano-dollars; undefined when its price is unknown, which is never 0. */
export function costNano(
  mode: Mode,
  info: ModelInfo,
  usage: Usage,
  { batch = false }: { readonly batch?: boolean } = {},
): number | undefined {
  for (const tariff of mode.tariffs) {
    const dollars = tariff.cost(info, usage, batch)
    if (dollars !== undefined) return nanoOf(dollars)
  }
  return undefined
}

/** Whether what calls of this kind cost at a deployment can be known. */
export function priced(info: ModelInfo, mode: Mode): boolean {
  return mode.tariffs.some((tariff) => tariff.priced(info))
}

/** What one unit costs at a deployment, for comparing; undefined when nobody said. */
export function unitCost(mode: Mode, info: ModelInfo): number | undefined {
  for (const tariff of mode.tariffs) {
    const cost = tariff.unitCost(info)
    if (cost !== undefined) return cost
  }
  return undefined
}
