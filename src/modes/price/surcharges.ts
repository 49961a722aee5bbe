import type { ModelInfo } from '../../config/sections/model-list.ts'
import { entryOf } from '../../lib/json/lenient.ts'

/** Something that a request asks for and that is billed beyond its tokens, or makes them dearer. */
export interface Asked {
  /** A term multiplies the price of every token: `service_tier` with its value. A use is billed each time: `web_search`. */
  readonly kind: 'term' | 'use'
  readonly name: string
  /** Of a term. */
  readonly value: string
  /** The field of the request. */
  readonly param: string
  /** Of a use: how often at most, where the request says so. */
  readonly most: number | undefined
}

/** Terms of service by field, as in `service_tier: priority`. */
export type Terms = Readonly<Record<string, string>>
/** How often a provider ran a tool of its own, by its name. */
export type ToolUses = Readonly<Record<string, number>>

/** What stands for a name that no price is for: what clients write is told to nobody. */
export const UNPRICED = 'unpriced'
/** Terms that cost the usual price. */
export const USUAL: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'normal',
  'global',
  'not_available',
])
/** Terms that cost less, at whoever sells by them. */
const CHEAPER: ReadonlySet<string> = new Set(['flex', 'batch', 'scale', 'reserved'])

/** The first of them that has no price at a deployment. */
export function withoutPrice(info: ModelInfo, asked: readonly Asked[]): Asked | undefined {
  return asked.find(({ kind, name, value }) =>
    kind === 'use' ? entryOf(info.tool_costs ?? {}, name) === undefined : multiplier(info, name, value) === undefined,
  )
}

/** What of a usage was asked for or reported, as it is billed: a report wins; terms that nobody asked for and that have no
 *  price are the usual ones; and nothing is taken off for terms that a provider did not confirm. */
export function settledTerms(info: ModelInfo, asked: Terms = {}, reported: Terms = {}): Terms | undefined {
  const terms: Record<string, string> = {}
  for (const name of new Set([...Object.keys(asked), ...Object.keys(reported)])) {
    const told = entryOf(reported, name)
    const word = told ?? entryOf(asked, name) ?? ''
    const times = multiplier(info, name, word)
    if (times === undefined) {
      if (told === undefined || told === entryOf(asked, name)) terms[name] = UNPRICED
    } else if (times !== 1 && (times > 1 || told !== undefined)) terms[name] = word
  }
  return Object.keys(terms).length === 0 ? undefined : terms
}

/** Names without a price become one: what a client called them goes no further. */
export function settledUses(
  info: ModelInfo,
  asked: ToolUses = {},
  reported: ToolUses | undefined,
): ToolUses | undefined {
  const uses: Record<string, number> = {}
  for (const [told, count] of Object.entries(reported ?? asked)) {
    if (count === 0) continue
    // Of two kinds of a tool reports name one alone.
    const name = entryOf(asked, told) === undefined && entryOf(asked, `${told}_preview`) ? `${told}_preview` : told
    const known = entryOf(info.tool_costs ?? {}, name) !== undefined
    if (known) uses[name] = count
    // What a provider did unasked is not the client's to pay, unless its operator gave it a price.
    else if (entryOf(asked, name) !== undefined) uses[UNPRICED] = (uses[UNPRICED] ?? 0) + count
  }
  return Object.keys(uses).length === 0 ? undefined : uses
}

/** By how much terms multiply the price of tokens; undefined when that of one is unknown. */
export function multiplierOf(info: ModelInfo, terms: Terms | undefined): number | undefined {
  let product: number | undefined = 1
  for (const name in terms) {
    const times = multiplier(info, name, terms[name] as string)
    product = times === undefined || product === undefined ? undefined : product * times
  }
  return product
}

/** What tools cost beside the tokens; undefined when the price of one is unknown. */
export function costOfUses({ tool_costs = {} }: ModelInfo, uses: ToolUses | undefined): number | undefined {
  let sum = 0
  for (const name in uses) {
    const price = entryOf(tool_costs, name)
    if (price === undefined) return undefined
    sum += price * (uses[name] as number)
  }
  return sum
}

function multiplier({ price_multipliers = {} }: ModelInfo, name: string, value: string): number | undefined {
  return entryOf(price_multipliers, `${name}/${value}`) ?? (USUAL.has(value) || CHEAPER.has(value) ? 1 : undefined)
}
