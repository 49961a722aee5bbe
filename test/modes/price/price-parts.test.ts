import { expect, it } from 'vitest'
import { type ModelInfo, modelInfo } from '../../../src/config/sections/model-list.ts'
import { dollarsOf } from '../../../src/lib/money.ts'
import { audioSpeech } from '../../../src/modes/audio-speech.ts'
import { chat } from '../../../src/modes/chat.ts'
import { imageGeneration } from '../../../src/modes/image-generation.ts'
import { asMode } from '../../../src/modes/mode.ts'
import { costNano, pricedParts } from '../../../src/modes/price/cost.ts'
import { rerank } from '../../../src/modes/rerank.ts'
import { type Usage, usageOf } from '../../../src/modes/usage.ts'
import { seededRandom } from '../../support/random.ts'

const random = seededRandom(11).next
const some = (most: number) => Math.floor(random() * most)
const perhaps = <Value>(value: Value): Value | undefined => (random() < 0.5 ? value : undefined)
const price = () => (1 + some(5000)) / 1e8

const someInfo = (): ModelInfo =>
  modelInfo().parse({
    input_cost_per_token: price(),
    output_cost_per_token: price(),
    cached_input_cost_per_token: perhaps(price()),
    cache_creation_input_cost_per_token: perhaps(price()),
    cache_creation_1h_input_cost_per_token: perhaps(price()),
    input_cost_per_audio_token: perhaps(price()),
    input_cost_per_image_token: perhaps(price()),
    output_cost_per_audio_token: perhaps(price()),
    input_cost_per_token_batches: perhaps(price()),
    batch_price_multiplier: perhaps(0.5),
    long_context_above: perhaps(1000),
    long_context_input_multiplier: perhaps(2),
    long_context_output_multiplier: perhaps(1.5),
    price_multipliers: { 'service_tier/priority': 1.75, 'inference_geo/us': 1.1 },
    tool_costs: { web_search: 0.01 },
  })

const someUsage = (): Usage =>
  usageOf({
    inputTokens: some(3000),
    outputTokens: some(500),
    cachedInputTokens: some(1000),
    cacheCreationInputTokens: some(1000),
    cacheCreation1hInputTokens: some(300),
    audioInputTokens: some(200),
    cachedAudioInputTokens: perhaps(some(200)),
    imageInputTokens: some(200),
    audioOutputTokens: some(100),
    terms: perhaps({ service_tier: 'priority', inference_geo: 'us' }),
    toolUses: perhaps({ web_search: 1 + some(4) }),
  })

it('the parts of a cost are, multiplied and added up, the cost', () => {
  const mode = asMode(chat)
  for (let index = 0; index < 500; index++) {
    const [info, usage, isBatch] = [someInfo(), someUsage(), random() < 0.3]
    const priced = pricedParts(mode, info, usage, isBatch)
    expect(priced?.nano).toBe(costNano(mode, info, usage, { batch: isBatch || undefined }))
    const sum = (priced?.parts ?? []).reduce(
      (all, part) => all + part.times.reduce((product, { by }) => product * by, part.count * part.price),
      0,
    )
    expect(sum).toBeCloseTo(dollarsOf(priced?.nano ?? 0), 8)
  }
})

it('a part names what it is of, its price in the list, and why it costs more or less', () => {
  const info = modelInfo().parse({
    input_cost_per_token: 0.000002,
    output_cost_per_token: 0.00001,
    cached_input_cost_per_token: 0.0000005,
    batch_price_multiplier: 0.5,
    long_context_above: 100,
    long_context_input_multiplier: 2,
    price_multipliers: { 'service_tier/priority': 1.75 },
    tool_costs: { web_search: 0.01 },
  })
  const usage = usageOf({
    inputTokens: 1000,
    cachedInputTokens: 400,
    outputTokens: 10,
    terms: { service_tier: 'priority' },
    toolUses: { web_search: 2 },
  })
  const batch = { name: 'batch', by: 0.5 }
  const tier = { name: 'service_tier/priority', by: 1.75 }
  const long = { name: 'long_context', by: 2 }
  expect(pricedParts(asMode(chat), info, usage, true)?.parts).toEqual([
    { unit: 'input_tokens', count: 600, price: 0.000002, times: [batch, long, tier] },
    { unit: 'cached_input_tokens', count: 400, price: 0.0000005, times: [batch, long, tier] },
    { unit: 'output_tokens', count: 10, price: 0.00001, times: [batch, tier] },
    { unit: 'tool_uses', tool: 'web_search', count: 2, price: 0.01, times: [] },
  ])
})

it('other units are parts as well, and what has no price has none', () => {
  const parts = (mode: Parameters<typeof asMode>[0], info: object, usage: Partial<Usage>) =>
    pricedParts(asMode(mode), modelInfo().parse(info), usageOf(usage), false)?.parts
  expect(
    parts(
      imageGeneration as never,
      { cost_per_image: { 'hd/1024x1024': 0.08 } },
      { images: 2, imageSize: 'hd/1024x1024' },
    ),
  ).toEqual([{ unit: 'images', count: 2, price: 0.08, times: [] }])
  expect(parts(audioSpeech as never, { cost_per_character: 0.00003 }, { characters: 100 })).toEqual([
    { unit: 'characters', count: 100, price: 0.00003, times: [] },
  ])
  expect(parts(rerank as never, { cost_per_rerank_unit: 0.002 }, { rerankUnits: 1 })).toEqual([
    { unit: 'rerank_units', count: 1, price: 0.002, times: [] },
  ])
  expect(parts(chat as never, { input_cost_per_token: 0.1 }, { inputTokens: 1, outputTokens: 1 })).toBeUndefined()
})
