import { describe, expect, it } from 'vitest'
import { type ModelInfo, modelInfo } from '../../../src/config/sections/model-list.ts'
import { audioSpeech } from '../../../src/modes/audio-speech.ts'
import { audioTranscription } from '../../../src/modes/audio-transcription.ts'
import { chat } from '../../../src/modes/chat.ts'
import { completion } from '../../../src/modes/completion.ts'
import { textToSpeech } from '../../../src/modes/elevenlabs/text-to-speech.ts'
import { embedding } from '../../../src/modes/embedding.ts'
import { imageGeneration } from '../../../src/modes/image-generation.ts'
import { asMode, type Mode } from '../../../src/modes/mode.ts'
import { costNano, priced, unitCost } from '../../../src/modes/price/cost.ts'
import { rerank } from '../../../src/modes/rerank.ts'
import { type Usage, usageOf } from '../../../src/modes/usage.ts'

type Prices = Partial<ModelInfo>

const info = (prices: Prices): ModelInfo => modelInfo().parse(prices)
const cost = (mode: Mode, prices: Prices, usage: Partial<Usage>, batch = false) =>
  costNano(mode, info(prices), usageOf(usage), { batch })

const CHAT = asMode(chat)
const IMAGE = asMode(imageGeneration)
const text = { input_cost_per_token: 0.0000025, output_cost_per_token: 0.00001 }

describe('tokens', () => {
  it.each([
    ['in and out', text, { inputTokens: 1000, outputTokens: 200 }, 4_500_000],
    ['a price of zero', { input_cost_per_token: 0, output_cost_per_token: 0 }, { inputTokens: 9, outputTokens: 9 }, 0],
    ['nothing used', text, {}, 0],
    [
      'a cached part at its own price',
      { ...text, cached_input_cost_per_token: 0.00000125 },
      { inputTokens: 1000, cachedInputTokens: 400, outputTokens: 1 },
      600 * 2500 + 400 * 1250 + 10_000,
    ],
    [
      'a cached part without a price of its own, at that of the input',
      text,
      { inputTokens: 1000, cachedInputTokens: 400 },
      2_500_000,
    ],
    [
      'parts that were read from and written to the cache',
      { ...text, cached_input_cost_per_token: 0.00000025, cache_creation_input_cost_per_token: 0.000003125 },
      { inputTokens: 1000, cachedInputTokens: 300, cacheCreationInputTokens: 200, outputTokens: 10 },
      500 * 2500 + 300 * 250 + 200 * 3125 + 100_000,
    ],
    [
      'writes for an hour, at the vendor’s proportion',
      { ...text, cache_creation_input_cost_per_token: 0.000003125 },
      { inputTokens: 1000, cacheCreationInputTokens: 300, cacheCreation1hInputTokens: 100 },
      700 * 2500 + 200 * 3125 + 100 * 5000,
    ],
    [
      'writes for an hour, at their own price',
      { ...text, cache_creation_input_cost_per_token: 0.000003125, cache_creation_1h_input_cost_per_token: 0.000007 },
      { inputTokens: 1000, cacheCreationInputTokens: 300, cacheCreation1hInputTokens: 100 },
      700 * 2500 + 200 * 3125 + 100 * 7000,
    ],
    [
      'a cached part that claims more than the whole',
      { ...text, cached_input_cost_per_token: 0 },
      { inputTokens: 10, cachedInputTokens: 500, cacheCreationInputTokens: 500 },
      0,
    ],
    ['prices below a nano-dollar', { input_cost_per_token: 1e-10, output_cost_per_token: 0 }, { inputTokens: 25 }, 3],
    ['many tokens', text, { inputTokens: 10_000_000, outputTokens: 1_000_000 }, 35_000_000_000],
  ] as const)('%s', (_, prices, usage, nano) => {
    expect(cost(CHAT, prices, usage)).toBe(nano)
    expect(cost(asMode(completion), prices, usage)).toBe(nano)
  })

  it('are exact for decimal prices, whatever binary fractions make of them', () => {
    for (const perMillion of [0.035, 0.05, 0.075, 0.15, 0.1, 0.28, 0.55, 1.1, 2.19, 3.75, 18.75]) {
      const price = perMillion / 1_000_000
      const prices = { input_cost_per_token: price, output_cost_per_token: 0 }
      for (const tokens of [1, 3, 7, 1000, 123_457, 999_999]) {
        const exact = BigInt(Math.round(perMillion * 1000)) * BigInt(tokens)
        expect(cost(CHAT, prices, { inputTokens: tokens })).toBe(Number(exact))
      }
    }
  })

  it('are unknown when something that was used has no price, and only then', () => {
    const input = { input_cost_per_token: 0.00000002 }
    expect(cost(CHAT, {}, { inputTokens: 1 })).toBeUndefined()
    expect(cost(CHAT, {}, {})).toBeUndefined()
    expect(cost(CHAT, input, { inputTokens: 1, outputTokens: 1 })).toBeUndefined()
    expect(cost(CHAT, { output_cost_per_token: 1 }, { inputTokens: 1, outputTokens: 1 })).toBeUndefined()
    expect(cost(asMode(embedding), input, { inputTokens: 1000 })).toBe(20_000)
    expect(priced(info(input), CHAT)).toBe(false)
    expect(priced(info(text), CHAT)).toBe(true)
    expect(priced(info(input), asMode(embedding))).toBe(true)
    expect(priced(info({ cost_per_image: 0 }), IMAGE)).toBe(true)
    expect(priced(info({ cost_per_image: 0 }), CHAT)).toBe(false)
  })

  it('of a batch cost its own price, else the multiplied one; its cached parts likewise', () => {
    const usage = { inputTokens: 1000, cachedInputTokens: 200, outputTokens: 100 }
    const prices = { ...text, cached_input_cost_per_token: 0.00000125 }
    expect(cost(CHAT, prices, usage, true)).toBe(800 * 2500 + 200 * 1250 + 100 * 10_000)
    expect(cost(CHAT, { ...prices, batch_price_multiplier: 0.5 }, usage, true)).toBe(1_625_000)
    expect(cost(CHAT, { ...prices, batch_price_multiplier: 0.5 }, usage)).toBe(3_250_000)
    const own = { input_cost_per_token_batches: 0.00000125, batch_price_multiplier: 0.9 }
    expect(cost(CHAT, { ...prices, ...own }, usage, true)).toBe(800 * 1250 + 200 * 625 + 100 * 9000)
    expect(cost(CHAT, { ...text, output_cost_per_token_batches: 0 }, { outputTokens: 5 }, true)).toBe(0)
    // The price of a batch is known where the usual one is free or unknown.
    const onlyOwn = { input_cost_per_token_batches: 0.000001, output_cost_per_token_batches: 0.000002 }
    expect(cost(CHAT, onlyOwn, usage, true)).toBe(1000 * 1000 + 100 * 2000)
    expect(cost(CHAT, { ...onlyOwn, input_cost_per_token: 0 }, usage, true)).toBe(1000 * 1000 + 100 * 2000)
    expect(cost(CHAT, onlyOwn, usage)).toBeUndefined()
    // What has a price of its own is discounted as the rest of its kind.
    const audio = { ...text, output_cost_per_audio_token: 0.0001, output_cost_per_token_batches: 0.0000025 }
    expect(cost(CHAT, audio, { outputTokens: 10, audioOutputTokens: 4 }, true)).toBe(6 * 2500 + 4 * 25_000)
  })
})

describe('images', () => {
  const map = { '1024x1024': 0.04, '1792x1024': 0.08, 'hd/1024x1024': 0.08 }
  const plain = { '1024x1024': 0.04 }
  const measured = (request: { size?: string; quality?: string; n?: number }) =>
    IMAGE.measure({ model: 'm', prompt: 'p', ...request } as never)

  it.each([
    ['one price', { input_cost_per_image: 0.02 }, { n: 3 }, 60_000_000],
    ['its other name', { cost_per_image: 0.02 }, {}, 20_000_000],
    ['the price of the size', { input_cost_per_image: map }, { size: '1792x1024', n: 2 }, 160_000_000],
    ['the price of quality and size', { input_cost_per_image: map }, { size: '1024x1024', quality: 'hd' }, 80_000_000],
    [
      'the dearest of its size, where its quality has no price',
      { cost_per_image: map },
      { quality: 'low' },
      80_000_000,
    ],
    ['the size, where no quality has a price', { cost_per_image: plain }, { quality: 'low' }, 40_000_000],
    ['the size, where the quality is the usual one', { cost_per_image: map }, { quality: 'standard' }, 40_000_000],
    ['the usual size, where none was asked for', { cost_per_image: map }, {}, 40_000_000],
    ['the default of a map', { cost_per_image: { default: 0.01 } }, { size: '512x512' }, 10_000_000],
    ['the dearest, where its size has no price', { cost_per_image: map }, { size: '512x512' }, 80_000_000],
    ['the dearest, where the vendor chooses', { cost_per_image: map }, { size: 'auto', n: 2 }, 160_000_000],
    [
      'the dearest, though a map has a default',
      { cost_per_image: { ...map, default: 0.01 } },
      { size: 'auto' },
      80_000_000,
    ],
    ['what auto costs', { cost_per_image: { ...map, auto: 0.05 } }, { size: 'auto' }, 50_000_000],
    ['more for a larger size than any', { cost_per_image: plain }, { size: '2048x2048' }, 160_000_000],
    ['not without end', { cost_per_image: plain }, { size: '99999999x99999999' }, 16 * 40_000_000],
    ['a size with zeros before it', { cost_per_image: plain }, { size: '01024x0001024' }, 40_000_000],
    ['a quality in capitals', { cost_per_image: map }, { size: '1024x1024', quality: ' HD' }, 80_000_000],
    ['a quality that is no path', { cost_per_image: map }, { size: '1024x1024', quality: '/' }, 80_000_000],
    ['a map with names of another kind', { cost_per_image: { 'HD/1024X01024': 0.3 } }, { quality: 'hd' }, 300_000_000],
    ['the larger of two sizes', { cost_per_image: map }, { size: '1024x1024', width: 1792, height: 1024 }, 80_000_000],
    ['a map without entries', { cost_per_image: {} }, {}, undefined],
    ['no price', {}, {}, undefined],
  ] as const)('%s', (_, prices, request, nano) => {
    expect(cost(IMAGE, prices, measured(request))).toBe(nano)
  })

  it('are never free where calls of unknown price are refused', () => {
    for (const prices of [map, plain, { default: 0.01 }, { 'hd/1x1': 0.3 }]) {
      expect(priced(info({ cost_per_image: prices }), IMAGE)).toBe(true)
      for (const size of ['auto', '512x512', '01024x1024', '0x0', undefined]) {
        for (const quality of ['auto', 'low', 'HD', '', undefined]) {
          const asked = measured({ ...(size ? { size } : {}), ...(quality === undefined ? {} : { quality }) })
          expect(cost(IMAGE, { cost_per_image: prices }, asked)).toBeGreaterThan(0)
        }
      }
    }
    expect(priced(info({ cost_per_image: {} }), IMAGE)).toBe(false)
  })

  it('are as many as a vendor makes, whatever number is asked for', () => {
    expect(cost(IMAGE, { cost_per_image: 0.04 }, measured({ n: 1e15 }))).toBe(128 * 40_000_000)
  })

  it('are billed by their tokens, where the vendor reports those and no image has a price', () => {
    const prices = { input_cost_per_token: 0.000005, output_cost_per_token: 0.00004 }
    expect(cost(IMAGE, prices, { images: 1, inputTokens: 10, outputTokens: 1056 })).toBe(50_000 + 1056 * 40_000)
    expect(cost(IMAGE, prices, { images: 1 })).toBeUndefined()
    expect(cost(IMAGE, { ...prices, cost_per_image: 0.02 }, { images: 1, outputTokens: 1056 })).toBe(20_000_000)
  })
})

describe('other units', () => {
  const transcription = asMode(audioTranscription)
  const reranking = asMode(rerank)
  const speech = asMode(audioSpeech)
  it.each([
    ['seconds of audio', transcription, { cost_per_audio_second: 0.0001 }, { audioSeconds: 12.5 }, 1_250_000],
    ['a recording of unknown length', transcription, { cost_per_audio_second: 0.0001 }, {}, undefined],
    ['a recording in tokens', transcription, text, { inputTokens: 100, outputTokens: 10 }, 350_000],
    ['a recording in tokens that were not reported', transcription, text, {}, undefined],
    ['characters', speech, { cost_per_character: 0.000015 }, { characters: 40 }, 600_000],
    ['rerank units', reranking, { cost_per_rerank_unit: 0.002 }, { rerankUnits: 2 }, 4_000_000],
    ['a reranking in tokens', reranking, { input_cost_per_token: 0.00000005 }, { inputTokens: 1000 }, 50_000],
    ['no price', reranking, {}, { rerankUnits: 1 }, undefined],
  ] as const)('%s', (_, mode, prices, usage, nano) => {
    expect(cost(mode, prices, usage)).toBe(nano)
  })

  it('characters of speech are those of Unicode', () => {
    const text = 'Grüße, 世界 🙂🙂'
    expect(speech.measure({ model: 'm', input: text })).toEqual({ characters: 12 })
    expect(asMode(textToSpeech).measure({ model: 'm', text })).toEqual({ characters: 12 })
  })

  it.each([
    ['a query with up to a hundred documents', 'q', Array(100).fill('d'), 1],
    ['one document more', 'q', Array(101).fill('d'), 2],
    ['documents that are several by their length', 'q', Array(100).fill('d'.repeat(2000)), 2],
    ['a query that makes them longer', 'q'.repeat(200_000), Array(2).fill('d'), 3],
    ['what is not in the text', 'q', Array(100).fill({ text: '', body: 'd'.repeat(4000), more: [1, 2] }), 3],
  ])('rerank units are %s', (_, query, documents, units) => {
    expect(reranking.measure({ model: 'm', query, documents })).toEqual({ rerankUnits: units })
  })

  it('of a batch are multiplied', () => {
    const prices = { cost_per_character: 0.00001, batch_price_multiplier: 0.5 }
    expect(cost(speech, prices, { characters: 10 }, true)).toBe(50_000)
  })
})

describe('unit costs', () => {
  it('compare by what is known, in the unit of the mode', () => {
    expect(unitCost(CHAT, info({ output_cost_per_token: 0.00002 }))).toBe(0.00002)
    expect(unitCost(IMAGE, info({ cost_per_image: { small: 0.01, large: 0.02 } }))).toBe(0.01)
    const byTokens = unitCost(IMAGE, info({ input_cost_per_token: 0.000005, output_cost_per_token: 0.00004 }))
    expect(byTokens).toBeGreaterThan(0.03)
    expect(byTokens).toBeLessThan(0.05)
    expect(unitCost(IMAGE, info({}))).toBeUndefined()
  })
})
