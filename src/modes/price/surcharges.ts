import type { ModelInfo } from '../../config/sections/model-list.ts'
import { entryOf } from '../../lib/json/lenient.ts'

/** A surcharge that a request asks for: it changes the price of tokens, or is billed in addition. */
export interface AskedSurcharge {
  /** A term multiplies the price of every token, such as `service_tier`. A use of a tool is billed each time, such as
   *  `web_search`. */
  readonly kind: 'term' | 'use'
  readonly name: string
  /** The value of a term; '' for a use. */
  readonly value: string
  /** The field of the request. */
  readonly param: string
  /** The most uses that the request allows; undefined for a term. */
  readonly most: number | undefined
}

/** Terms of service by field, as in `service_tier: priority`. */
export type Terms = Readonly<Record<string, string>>
/** How often a provider ran a tool of its own, by its name. */
export type ToolUses = Readonly<Record<string, number>>

/** Replaces names without a price, so that no text of a client reaches records. */
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
/** Terms that cost less than the usual price. */
const CHEAPER: ReadonlySet<string> = new Set(['flex', 'batch', 'scale', 'reserved'])

/** The first surcharge that has no price at a deployment. */
export function withoutPrice(info: ModelInfo, asked: readonly AskedSurcharge[]): AskedSurcharge | undefined {
  return asked.find(({ kind, name, value }) =>
    kind === 'use' ? entryOf(info.tool_costs ?? {}, name) === undefined : multiplier(info, name, value) === undefined,
  )
}

/** The terms that a call is billed by. A reported term wins over the request's; a reported term without a price is
 *  ignored if the request did not ask for it; a discount applies only if the provider reports its term. */
export function settledTerms(info: ModelInfo, asked: Terms = {}, reported: Terms = {}): Terms | undefined {
  let terms: Record<string, string> | undefined
  for (const names of [asked, reported]) {
    for (const name in names) {
      if (terms && Object.hasOwn(terms, name)) continue
      const value = settledTerm(info, name, entryOf(asked, name), entryOf(reported, name))
      if (value === undefined) continue
      terms ??= {}
      terms[name] = value
    }
  }
  return terms
}

/** The value of a term that changes the price; undefined if it costs the usual one. */
function settledTerm(
  info: ModelInfo,
  name: string,
  asked: string | undefined,
  confirmed: string | undefined,
): string | undefined {
  const value = confirmed ?? asked ?? ''
  const times = multiplier(info, name, value)
  if (times === 1) return undefined
  if (times === undefined) return confirmed !== undefined && confirmed !== asked ? undefined : UNPRICED
  return times < 1 && confirmed === undefined ? undefined : value
}

/** The tool uses that a call is billed by. Uses that the request asked for without a price are summed as `unpriced`. */
export function settledUses(
  info: ModelInfo,
  asked: ToolUses = {},
  reported: ToolUses | undefined,
): ToolUses | undefined {
  let uses: Record<string, number> | undefined
  const counts = reported ?? asked
  for (const reportedName in counts) {
    const count = counts[reportedName] as number
    if (count === 0) continue
    // Reports use the name of a tool for its preview too.
    const preview = `${reportedName}_preview`
    const name = entryOf(asked, reportedName) === undefined && entryOf(asked, preview) ? preview : reportedName
    const known = entryOf(info.tool_costs ?? {}, name) !== undefined
    if (known) uses = { ...uses, [name]: count }
    // The client does not pay for a tool that it did not ask for, unless the operator has set a price.
    else if (entryOf(asked, name) !== undefined) uses = { ...uses, [UNPRICED]: (uses?.[UNPRICED] ?? 0) + count }
  }
  return uses
}

/** The product of the terms' price multipliers; undefined if one is unknown. */
export function multiplierOf(info: ModelInfo, terms: Terms | undefined): number | undefined {
  let product: number | undefined = 1
  for (const name in terms) {
    const times = multiplier(info, name, terms[name] as string)
    product = times === undefined || product === undefined ? undefined : product * times
  }
  return product
}

/** The cost of tool uses in addition to tokens; undefined if the price of one is unknown. */
export function costOfUses({ tool_costs = {} }: ModelInfo, uses: ToolUses | undefined): number | undefined {
  if (!uses) return 0
  let sum = 0
  for (const name in uses) {
    const price = entryOf(tool_costs, name)
    if (price === undefined) return undefined
    sum += price * (uses[name] as number)
  }
  return sum
}

function multiplier({ price_multipliers: own }: ModelInfo, name: string, value: string): number | undefined {
  return (own && entryOf(own, `${name}/${value}`)) ?? (USUAL.has(value) || CHEAPER.has(value) ? 1 : undefined)
}
