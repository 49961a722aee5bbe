import type { Row } from '../../data/client.ts'
import { budget } from '../../design/format.ts'

export type Deployment = Row<'GET /ui/api/models'>
export type ProviderKind = Row<'GET /ui/api/providers'>
export type Mode = ProviderKind['modes'][number]

/** What stands for a secret that is kept. */
export const MASK = '[secret]'

/** The kind of provider, and the model as the provider names it. */
export function upstreamOf({ gateway_params: params }: Pick<Deployment, 'gateway_params'>): {
  readonly kind: string
  readonly model: string
} {
  const model = String(params.model ?? '')
  const [segment = '', ...rest] = model.split('/')
  const kind = typeof params.provider === 'string' ? params.provider : segment
  return { kind, model: segment === kind ? rest.join('/') : model }
}

export const MODE_WORDS: Readonly<Record<Mode, string>> = {
  chat: 'chat',
  completion: 'completions',
  embedding: 'embeddings',
  image_generation: 'images',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
  rerank: 'rerank',
  moderation: 'moderation',
}

export interface PriceField {
  readonly name: string
  readonly label: string
  /** For how many units the price is shown. */
  readonly per: number
  readonly unit: string
  readonly modes: readonly Mode[]
}

const TEXT: readonly Mode[] = ['chat', 'completion', 'embedding', 'moderation']
const M = 1_000_000

export const PRICES: readonly PriceField[] = [
  { name: 'input_cost_per_token', label: 'Input', per: M, unit: '$ per 1M tokens', modes: TEXT },
  { name: 'output_cost_per_token', label: 'Output', per: M, unit: '$ per 1M tokens', modes: TEXT },
  { name: 'cached_input_cost_per_token', label: 'Cached input', per: M, unit: '$ per 1M tokens', modes: ['chat'] },
  {
    name: 'cache_creation_input_cost_per_token',
    label: 'Writing to the cache',
    per: M,
    unit: '$ per 1M tokens',
    modes: ['chat'],
  },
  { name: 'input_cost_per_image', label: 'Images', per: 1, unit: '$ each', modes: ['image_generation'] },
  { name: 'cost_per_audio_second', label: 'Audio', per: 60, unit: '$ per minute', modes: ['audio_transcription'] },
  { name: 'cost_per_character', label: 'Characters', per: M, unit: '$ per 1M', modes: ['audio_speech'] },
  { name: 'cost_per_rerank_unit', label: 'Rerank units', per: 1000, unit: '$ per 1,000', modes: ['rerank'] },
]

/** Without the digits that come of binary fractions. */
export const scaled = (value: number, by: number): number => Number((value * by).toPrecision(12))

/** The prices in force in a few words; undefined where there is none. */
export function priceWords({ prices }: Pick<Deployment, 'prices'>): string | undefined {
  const { input_cost_per_token: input, output_cost_per_token: output } = prices
  if (typeof input === 'number') {
    const dollars = (price: unknown) => budget(scaled(Number(price), M))
    return typeof output === 'number' ? `${dollars(input)} → ${dollars(output)}` : dollars(input)
  }
  for (const { name, per, unit } of PRICES) {
    const price = prices[name]
    if (typeof price === 'number') return `${budget(scaled(price, per))} ${unit.slice(2)}`
    if (price !== undefined) return 'by size'
  }
  return Object.keys(prices).some((name) => name.includes('cost_per')) ? 'set' : undefined
}

const LIMITS = [
  ['rpm_limit', 'requests'],
  ['tpm_limit', 'tokens'],
  ['image_pm_limit', 'images'],
  ['audio_seconds_pm_limit', 'seconds of audio'],
  ['char_pm_limit', 'characters'],
  ['rerank_units_pm_limit', 'rerank units'],
] as const

/** What a deployment takes in a minute: `600 requests`. */
export const limitWords = (info: Readonly<Record<string, unknown>>): readonly string[] =>
  LIMITS.flatMap(([name, unit]) => {
    const limit = info[name]
    return typeof limit === 'number' ? [`${limit.toLocaleString('en-US')} ${unit}`] : []
  })

export const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])
