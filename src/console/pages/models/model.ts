import type { Row } from '../../data/client.ts'

export type Model = Row<'GET /ui/api/callable-models'>

export const MODES = {
  chat: 'chat',
  completion: 'completion',
  embedding: 'embeddings',
  image_generation: 'images',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
  rerank: 'rerank',
  moderation: 'moderation',
} as const satisfies Record<Model['modes'][number], string>

export const modesOf = (model: Model): string => model.modes.map((mode) => MODES[mode]).join(', ')

export const KINDS = { model: 'model', route_group: 'route group', alias: 'alias' } as const

interface Price {
  readonly name: string
  readonly label: string
  /** In what the price is told. */
  readonly unit: string
  readonly times: number
}

const PRICES: readonly Price[] = [
  { name: 'input_cost_per_token', label: 'Input', unit: '1M tokens', times: 1e6 },
  { name: 'cached_input_cost_per_token', label: 'Input from a cache', unit: '1M tokens', times: 1e6 },
  { name: 'output_cost_per_token', label: 'Output', unit: '1M tokens', times: 1e6 },
  { name: 'input_cost_per_image', label: 'Image in', unit: 'image', times: 1 },
  { name: 'cost_per_image', label: 'Image', unit: 'image', times: 1 },
  { name: 'cost_per_audio_second', label: 'Audio', unit: 'minute', times: 60 },
  { name: 'cost_per_character', label: 'Speech', unit: '1M characters', times: 1e6 },
  { name: 'cost_per_rerank_unit', label: 'Search', unit: '1,000 searches', times: 1000 },
]

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })

/** A price of a model, from its cheapest to its dearest deployment; undefined: it has none. */
export function priceOf(model: Model, name: string): string | undefined {
  const range = model.prices[name]
  const price = PRICES.find((one) => one.name === name)
  if (!range || !price) return undefined
  const [from, to] = [dollars.format(range.from * price.times), dollars.format(range.to * price.times)]
  return from === to ? from : `${from}–${to}`
}

/** Every price of a model, with what it is for. */
export const pricesOf = (model: Model): ReadonlyArray<readonly [string, string]> =>
  PRICES.flatMap(({ name, label, unit }) => {
    const price = priceOf(model, name)
    return price === undefined ? [] : [[label, `${price} per ${unit}`] as const]
  })
