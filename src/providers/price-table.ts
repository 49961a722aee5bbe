import type { ModelInfo } from '../config/sections/model-list.ts'
import { entryOf } from '../lib/json/lenient.ts'
import { claude } from './prices/claude.ts'
import { gemini } from './prices/gemini.ts'
import { openai } from './prices/openai.ts'
import { others } from './prices/others.ts'
import { type Prices, type Rows, timesAsMuch } from './prices/price.ts'
import { type Place, regionalTimes } from './regional-prices.ts'
import { joined, listSurcharges } from './surcharge-table.ts'

/** When these prices were last compared with the vendors' price lists. A deployment's own prices take precedence. */
export const PRICES_AS_OF = '2026-11'

/** Prices by provider and by the provider's name of the model, without its date. These are the usual prices; surcharges
 *  for longer prompts, other regions or faster service are in `surcharge-table.ts`. A price that a vendor lowers for a
 *  time, or for some hours, is listed in full. Azure is left out, because its model name is one that the owner of the
 *  deployment chose: it has the prices of a `base_model`. */
const TABLE: Readonly<Record<string, Rows>> = {
  openai,
  anthropic: claude,
  gemini,
  vertex: { ...claude, ...gemini },
  ...others,
}

/** Whose prices of tokens a provider has for base models, of Azure at its global deployments. */
const MAKERS: Readonly<Record<string, string>> = { azure: 'openai' }

/** One row of the table: the prices of a model by the name that its versions and dates share. */
export interface PriceRow {
  readonly provider: string
  readonly model: string
  readonly prices: Prices
}

/** The whole table, by provider and model. */
export function priceRows(): PriceRow[] {
  return Object.entries(TABLE).flatMap(([provider, rows]) =>
    Object.entries(rows).map(([model, prices]) => ({ provider, model, prices })),
  )
}

/** Another provider whose prices a base model has. */
const makerOf = (provider: string, baseModel: string | undefined): string | undefined =>
  baseModel === undefined ? undefined : entryOf(MAKERS, provider)

/** The row that prices a model: its own, or that of its name without version, date and region. */
export function priceRowOf(named: string, model: string, baseModel?: string): PriceRow | undefined {
  const provider = makerOf(named, baseModel) ?? named
  const rows = entryOf(TABLE, provider)
  const name = rows && namesOf(baseModel ?? model).find((one) => Object.hasOwn(rows, one))
  return name === undefined ? undefined : { provider, model: name, prices: rows?.[name] ?? {} }
}

const VERSION = /(@|-v)\d+(:\d+)?$/
const DATE = /[-@](latest|\d{4}-\d\d-\d\d|\d{8}|\d{3,4}|\d\d-\d{4})$/
const REGION = /^(us|eu|apac|jp|au|ca|sa|global|us-gov)\./

/** Deepgram's voices and kinds of recordings, which cost what their family does. */
const MEMBER = /^(aura(?:-2)?|nova-\d)-[a-z]+(-[a-z]{2})?$/

/** A model's name, and the same without its version, its date, its region, or of a family the family's. */
function namesOf(model: string): string[] {
  const undated = model.replace(VERSION, '').replace(DATE, '')
  return [model, undated, undated.replace(REGION, ''), undated.replace(MEMBER, '$1')]
}

/** The list prices of a model at a place; none for an unknown model. */
function listPricesAt(provider: string, model: string, place: Place): Prices {
  const row = priceRowOf(provider, model, place.base_model)
  if (!row) return {}
  const times = regionalTimes(row.provider, row.model, place)
  return times === 1 ? row.prices : timesAsMuch(row.prices, times)
}

/** The prices of a deployment at its place, completed from the tables. A deployment with a token price keeps all its token
 *  prices: an input part without a price of its own then costs as much as the input. Multipliers apply to any price. */
export function withListPrices(provider: string, model: string, info: ModelInfo, place: Place = {}): ModelInfo {
  const maker = makerOf(provider, place.base_model)
  const listed = listPricesAt(provider, model, place)
  const { tool_costs, ...terms } = listSurcharges(maker ?? provider, place.base_model ?? model)
  const surcharges = maker === undefined && tool_costs ? { ...terms, tool_costs } : terms
  const maps = joined(surcharges, info)
  if (info.input_cost_per_token === undefined) return { ...surcharges, ...listed, ...info, ...maps }
  const {
    cached_input_cost_per_token: _c,
    cache_creation_input_cost_per_token: _w,
    cache_creation_1h_input_cost_per_token: _h,
    input_cost_per_audio_token: _a,
    input_cost_per_image_token: _i,
    ...others
  } = listed
  return { ...surcharges, ...others, ...info, ...maps }
}
