import type { ModelInfo } from '../../config/sections/model-list.ts'
import { multiplierOf, type Terms } from './surcharges.ts'

/** What a price is of. Cached, cache-creation, audio and image tokens are counted apart from the other input. */
export const PRICED_UNITS = [
  'input_tokens',
  'cached_input_tokens',
  'cached_audio_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation_1h_input_tokens',
  'audio_input_tokens',
  'image_input_tokens',
  'output_tokens',
  'audio_output_tokens',
  'tool_uses',
  'images',
  'audio_seconds',
  'characters',
  'rerank_units',
] as const

/** A multiplier of a price. */
export interface Times {
  /** `batch`, `long_context`, or a term such as `service_tier/priority`. */
  readonly name: string
  readonly by: number
}

/** A part of the cost of a call: the product of its count, its price and all multipliers. */
export interface PricePart {
  readonly unit: (typeof PRICED_UNITS)[number]
  /** The tool of `tool_uses`. */
  readonly tool?: string
  readonly count: number
  /** US dollars each. */
  readonly price: number
  readonly times: readonly Times[]
}

const NONE: readonly Times[] = []

export const inBatch = (discount: number): readonly Times[] =>
  discount === 1 ? NONE : [{ name: 'batch', by: discount }]

/** Gives each part of a tokens' cost its multipliers. `batch` is a part of its price already. */
export function multiplied(
  part: PricePart,
  {
    info,
    terms,
    batch,
    long,
  }: {
    readonly info: ModelInfo
    readonly terms: Terms | undefined
    readonly batch: number
    readonly long: number
  },
): PricePart {
  const times = [...inBatch(batch)]
  if (long !== 1) times.push({ name: 'long_context', by: long })
  for (const [name, value] of Object.entries(terms ?? {})) {
    const by = multiplierOf(info, { [name]: value }) ?? 1
    if (by !== 1) times.push({ name: `${name}/${value}`, by })
  }
  return { ...part, price: batch === 0 ? 0 : part.price / batch, times }
}
