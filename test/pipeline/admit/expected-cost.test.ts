import { describe, expect, it } from 'vitest'
import { messagesDefaults, responsesDefaults } from '../../../src/api/dialects/default-field-names.ts'
import { modelInfo } from '../../../src/config/sections/model-list.ts'
import { audioTranscription } from '../../../src/modes/audio-transcription.ts'
import { chat } from '../../../src/modes/chat.ts'
import { cohereEmbed } from '../../../src/modes/cohere/embed.ts'
import { embedding } from '../../../src/modes/embedding.ts'
import { imageGeneration } from '../../../src/modes/image-generation.ts'
import { asMode } from '../../../src/modes/mode.ts'
import { moderation } from '../../../src/modes/moderation.ts'
import { costNano } from '../../../src/modes/price/cost.ts'
import { rerank } from '../../../src/modes/rerank.ts'
import { usageOf } from '../../../src/modes/usage.ts'
import { expecting, NO_COST } from '../../../src/pipeline/admit/expected-cost.ts'
import { usualUsage } from '../../../src/pipeline/admit/usual-usage.ts'
import type { Adapter } from '../../../src/providers/provider.ts'
import type { Deployment } from '../../../src/routing/deployment.ts'
import { seededRandom } from '../../support/random.ts'

type Parameters = globalThis.Parameters<typeof expecting>

const services = {
  usual: usualUsage(() => 0),
  config: { general_settings: { max_upload_bytes: 100_000_000 } },
} as unknown as Parameters[0]
const input = {
  endpoint: { mode: asMode(chat) },
  bytes: new Uint8Array(100),
  form: undefined,
} as unknown as Parameters[1]

interface Place {
  readonly id?: string
  readonly info: object
  readonly defaults?: object
  readonly setsLimit?: Adapter['setsLimit']
  readonly provider?: object
}
const at = ({ id = 'd', info, defaults = {}, provider = {}, ...adapter }: Place) =>
  ({ id, info, provider, connection: { defaults }, adapter: () => adapter }) as unknown as Deployment
const cost = (asked: object, fields: object, place: Place) =>
  expecting(services, { ...input, ...asked } as Parameters[1], { model: 'm', ...fields })([at(place)])

/** A cent for ten tokens of output, and nothing for input. */
const PRICES = { input_cost_per_token: 0, output_cost_per_token: 0.001 }
const costOf = (fields: object, output_cost_per_token = 0.001, defaults?: object) => {
  const endpoint = { ...input.endpoint, ...(defaults ? { dialect: { defaults } } : {}) }
  return cost({ endpoint }, fields, { info: { input_cost_per_token: 0.001, output_cost_per_token } })
}
const tokensHeld = (fields: object, place: Partial<Place> = {}) =>
  cost({}, fields, { ...place, info: { ...PRICES, ...place.info } }).holdNano / 1_000_000

describe('what is held for a call', () => {
  it.each([
    [{ size: '1024x1024' }, 7324],
    [{ quality: 'low', n: 2 }, 2 * 7324],
    [{ quality: 'max', size: '3840x2160' }, 2 * 28_096 + 300],
    [{ output_format: 'svg' }, 7324 + 16_384],
  ])('is the most that images are made of: %o', (fields, tokens) => {
    const { holdNano } = cost(
      { endpoint: { mode: asMode(imageGeneration) } },
      { prompt: 'A', ...fields },
      { info: PRICES },
    )
    expect(holdNano / 1_000_000).toBe(tokens)
  })

  it.each([1, 10, 4096, 4097, 8000, 1_000_000])('is the limit of the client itself in full: %i tokens', (limit) => {
    expect(tokensHeld({ max_tokens: limit })).toBe(limit)
    expect(tokensHeld({ max_completion_tokens: limit, n: 3 })).toBe(3 * limit)
    expect(tokensHeld({}, { defaults: { max_tokens: limit } })).toBe(limit)
    expect(tokensHeld({ max_tokens: 5 }, { defaults: { max_completion_tokens: limit } })).toBe(5)
    expect(tokensHeld({ max_tokens: limit }, { info: { max_output_tokens: 100 } })).toBe(limit)
  })

  it('is the longest answer of the deployment where nobody sets a limit', () => {
    expect(tokensHeld({})).toBe(4096)
    expect(tokensHeld({ max_tokens: null })).toBe(4096)
    expect(tokensHeld({ max_tokens: null }, { defaults: { max_tokens: 7 } })).toBe(4096)
    expect(tokensHeld({}, { info: { max_output_tokens: 32_000 } })).toBe(32_000)
    expect(tokensHeld({}, { info: { max_output_tokens: 100 } })).toBe(100)
    expect(tokensHeld({ n: 2 }, { defaults: { n: 5 } })).toBe(2 * 4096)
    expect(tokensHeld({}, { defaults: { n: 5 } })).toBe(5 * 4096)
    expect(tokensHeld({ best_of: 4 })).toBe(4 * 4096)
  })

  it('knows the limit that its own translator sets, and what is thought before an answer', () => {
    const setsLimit = (_model: string, thoughts: number) => 8192 + thoughts
    expect(tokensHeld({}, { setsLimit })).toBe(8192)
    expect(tokensHeld({ reasoning_effort: 'high' }, { setsLimit, info: { max_output_tokens: 1 } })).toBe(32_768)
    expect(tokensHeld({}, { defaults: { reasoning_effort: 'low' } })).toBe(4096 + 2048)
    expect(tokensHeld({ thinking: { type: 'enabled', budget_tokens: 10_000 } })).toBe(14_096)
    // With thoughts between tool calls, they may be more than the limit of one answer.
    expect(tokensHeld({ max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 10_000 } })).toBe(10_000)
  })

  it('is never lowered, but raised, by a limit in the words of others or in quotes', () => {
    expect(tokensHeld({ max_tokens: 5, max_output_tokens: 9000 })).toBe(9000)
    expect(tokensHeld({ max_tokens: '9000' })).toBe(9000)
    expect(tokensHeld({ max_tokens: '5' })).toBe(4096)
    expect(tokensHeld({ max_tokens: -1 })).toBe(4096)
  })

  it('is not what other calls were like', () => {
    const place = { id: 'taught', info: PRICES }
    const before = cost({}, {}, place).holdNano
    const usage = usageOf({ inputTokens: 1, outputTokens: 1 })
    for (const limited of [true, false]) {
      services.usual.learn('taught', { bodyBytes: 100_000, usage, answers: 1, limited })
      expect(cost({}, {}, place).holdNano).toBe(before)
      expect(cost({}, { max_tokens: 8000 }, place).holdNano).toBe(8000 * 1_000_000)
    }
  })

  it('is by the dearest terms that may be billed, and every use of a tool', () => {
    const info = {
      price_multipliers: { 'service_tier/priority': 2, 'service_tier/flex': 0.5 },
      tool_costs: { web_search: 0.01 },
    }
    expect(tokensHeld({ max_tokens: 100, service_tier: 'priority' }, { info })).toBe(200)
    // Who asks for cheaper terms does not always get them.
    expect(tokensHeld({ max_tokens: 100, service_tier: 'flex' }, { info })).toBe(100)
    expect(tokensHeld({ max_tokens: 100, tools: [{ type: 'web_search', max_uses: 3 }] }, { info })).toBe(130)
    expect(
      tokensHeld({ max_tokens: 100, audio: { voice: 'a' } }, { info: { output_cost_per_audio_token: 0.003 } }),
    ).toBe(300)
  })

  it('is a write to the cache where the vendor writes unasked', () => {
    const prices = { input_cost_per_token: 0.01, output_cost_per_token: 0, cache_creation_input_cost_per_token: 0.02 }
    const bytes = new Uint8Array(1000)
    const held = (provider: object) => cost({ bytes }, {}, { info: prices, provider }).holdNano
    expect(held({ writesCache: true })).toBe(2 * held({}))
  })

  it('is likely to be the text of a short call, not the frame of its body, where no call has taught anything', () => {
    const prices = { input_cost_per_token: 0.01, output_cost_per_token: 0.01 }
    const ofText = (content: string) => {
      const body = { model: 'echo', messages: [{ role: 'user', content }] }
      const bytes = new TextEncoder().encode(JSON.stringify(body))
      return cost({ bytes }, body, { id: 'cold', info: prices }).likelyNano / 10_000_000
    }
    expect(ofText('Hello')).toBeLessThanOrEqual(2)
    expect(ofText('x'.repeat(40_000))).toBeGreaterThan(9900)
  })

  it('is likely to be what the call before cost, to the token, where both are alike', () => {
    const info = { input_cost_per_token: 0.01, output_cost_per_token: 0.01 }
    for (let bodyBytes = 40; bodyBytes < 400; bodyBytes++) {
      const id = `like-${bodyBytes}`
      const usage = usageOf({ inputTokens: bodyBytes % 23, outputTokens: 7 })
      services.usual.learn(id, { bodyBytes, usage, answers: 1, limited: false })
      const { likelyNano } = cost({ bytes: new Uint8Array(bodyBytes) }, {}, { id, info })
      expect(likelyNano, id).toBe(((bodyBytes % 23) + 7) * 10_000_000)
    }
  })

  it('is nothing for what costs nothing anywhere', () => {
    expect(cost({ endpoint: { ...input.endpoint, free: true } }, {}, { info: PRICES })).toEqual(NO_COST)
  })

  it('grows with the answers that it asks for', () => {
    const input = costOf({ max_tokens: 0 }).holdNano
    expect(costOf({ max_tokens: 10, n: 3 }).holdNano - input).toBe(3 * (costOf({ max_tokens: 10 }).holdNano - input))
  })

  // JSON has numbers beyond all numbers, and nothing of them is not a number.
  it.each([0, 0.001])('is never less for numbers that nobody means (output at $%d a token)', (price) => {
    for (const limit of [{}, { max_tokens: 0 }]) {
      const one = costOf(limit, price)
      const endless = costOf({ ...limit, n: JSON.parse('1e400') }, price)
      expect(endless.holdNano).toBeGreaterThanOrEqual(one.holdNano)
      expect(endless.likelyNano).toBeGreaterThanOrEqual(one.likelyNano)
    }
  })

  // Whoever says a small limit in words that no vendor of this dialect heeds would hold next to nothing.
  it.each([
    ['chat', undefined, 'max_completion_tokens', ['max_output_tokens']],
    ['chat', undefined, 'max_tokens', ['max_completion_tokens', 'max_output_tokens']],
    ['messages', messagesDefaults, 'max_tokens', ['max_completion_tokens', 'max_output_tokens']],
    ['responses', responsesDefaults, 'max_output_tokens', ['max_completion_tokens', 'max_tokens']],
  ])('goes by the limit that %s knows', (_name, defaults, own, others) => {
    const foreign = Object.fromEntries(others.map((name) => [name, 0]))
    expect(costOf({ ...foreign, [own]: 1000 }, 0.001, defaults)).toEqual(costOf({ [own]: 1000 }, 0.001, defaults))
    const { max_output_tokens, ...words } = foreign
    const unheard = defaults ? foreign : { max_output_tokens }
    expect(costOf(unheard, 0.001, defaults)).toEqual(costOf({}, 0.001, defaults))
    expect(costOf({ ...words, [own]: 10 }, 0.001, defaults).holdNano).toBeLessThan(costOf({}).holdNano)
  })

  it.each([
    ['an image', { type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } }, 5000],
    ['a recording', { type: 'input_audio', input_audio: { data: 'aaaa', format: 'mp3' } }, 100],
  ])('is at the price of the dearest kind of token that may be read of %s', (_name, part, atLeast) => {
    const request = { messages: [{ role: 'user', content: [part] }], max_tokens: 0 }
    const bytes = new TextEncoder().encode(JSON.stringify(request))
    const asked = { endpoint: { ...input.endpoint, dialect: {} }, bytes }
    const plain = { input_cost_per_token: 0.001, output_cost_per_token: 0 }
    const dear = { ...plain, input_cost_per_audio_token: 0.01, input_cost_per_image_token: 0.01 }
    const [usual, held] = [plain, dear].map((info) => cost(asked, request, { info }).holdNano)
    expect(held).toBe(10 * Number(usual))
    expect(held).toBeGreaterThanOrEqual(atLeast * 10_000_000)
  })

  it('has room for what the request asks for beyond its tokens', () => {
    const prices = { price_multipliers: { 'service_tier/priority': 2 }, tool_costs: { web_search: 0.01 } }
    const info = { input_cost_per_token: 0.001, output_cost_per_token: 0.001, batch_price_multiplier: 1, ...prices }
    const held = (fields: object) => cost({}, { max_tokens: 10, ...fields }, { info }).holdNano
    const usual = held({})
    expect(held({ service_tier: 'priority' })).toBe(2 * usual)
    const search = { type: 'web_search' }
    const withTools = held({ tools: [{ type: 'function' }] })
    expect(held({ web_search_options: {} }) - usual).toBeGreaterThanOrEqual(50_000_000)
    expect(held({ tools: [{ ...search, max_uses: 3 }] }) - withTools).toBeGreaterThanOrEqual(30_000_000)
    expect(held({ tools: [{ ...search, max_uses: 1e9 }] }) - withTools).toBeGreaterThanOrEqual(200_000_000)
  })

  it('is by the length of a recording where that is all that is known', () => {
    const secondsOf = (raw: object, info: object) => {
      const form = { raw }
      return cost({ form, endpoint: { mode: asMode(audioTranscription) } }, {}, { info })
    }
    const perSecond = { cost_per_audio_second: 1 }
    expect(secondsOf({ length: 160_000 }, perSecond)).toEqual({ holdNano: 214e9, likelyNano: 10e9 })
    // Whose length nobody has said may be as long as an upload may be.
    expect(secondsOf({ received: 10, ended: false }, perSecond).likelyNano).toBeGreaterThan(60e9)
    expect(secondsOf({ received: 10, ended: false }, perSecond).holdNano).toBe(133_334e9)
    expect(secondsOf({ received: 160_000, ended: true }, perSecond).likelyNano).toBe(10e9)
    const perToken = { input_cost_per_token: 1, output_cost_per_token: 1 }
    expect(secondsOf({ length: 160_000 }, perToken).likelyNano).toBe(140e9)
  })

  it.each([
    ['embeddings', asMode(embedding), { input: 'Hi' }],
    ['rerankings by tokens', asMode(rerank), { query: 'Hi', documents: ['Hi'] }],
  ])('is the price of the input where nothing is written: %s', (_name, mode, fields) => {
    const info = { input_cost_per_token: 0.001, batch_price_multiplier: 1 }
    expect(cost({ endpoint: { mode } }, fields, { info })).toEqual({ holdNano: 100_000_000, likelyNano: 9_000_000 })
  })

  it.each([
    ['one text', asMode(embedding), { input: 'Hi' }, 10],
    ['a list of texts', asMode(embedding), { input: ['Hi', 'Ho', 'Ha'] }, 30],
    ['one list of tokens', asMode(embedding), { input: [1, 2, 3] }, 10],
    ['lists of tokens', asMode(embedding), { input: [[1], [2, 3]] }, 20],
    ["Cohere's texts and inputs", asMode(cohereEmbed), { texts: ['Hi'], inputs: [{ content: [] }] }, 20],
    ['texts to judge', asMode(moderation), { input: ['Hi', 'Ho'] }, 20],
    ['texts that are shorter', asMode(embedding), { input: Array(11).fill('Hi') }, 100],
  ])('is the longest input of the model for each of them: %s', (_name, mode, fields, tokens) => {
    const info = { input_cost_per_token: 0.001, batch_price_multiplier: 1, max_input_tokens: 10 }
    expect(cost({ endpoint: { mode } }, fields, { info }).holdNano).toBe(tokens * 1_000_000)
  })
})

describe('what is held for a call of a batch', () => {
  const OF_BATCH = { batch: {} }
  const chatPrices = { input_cost_per_token: 0.001, output_cost_per_token: 0.002 }
  it.each([
    ['half of the usual price', { batch_price_multiplier: 0.5 }, 0.5],
    ['the price of batches', { input_cost_per_token_batches: 0.004, output_cost_per_token_batches: 0.008 }, 4],
    ['its dearer kind', { ...chatPrices, cache_creation_input_cost_per_token: 0.1, batch_price_multiplier: 2 }, 2],
  ])('is %s', (_, prices, times) => {
    const info = modelInfo().parse({ ...chatPrices, ...prices })
    const fields = { max_tokens: 100, messages: [{ role: 'user', content: 'x'.repeat(80) }] }
    const [single, ofBatch] = [cost({}, fields, { info }), cost(OF_BATCH, fields, { info })]
    expect(single.holdNano).toBeGreaterThan(0)
    expect(ofBatch.holdNano).toBe(times * single.holdNano)
    expect(ofBatch.likelyNano).toBe(times * single.likelyNano)
  })

  it('is at least what it is billed, whatever is reported within its bounds', () => {
    const random = seededRandom(11)
    const price = () => random.pick([undefined, 0, 0.000_001, 0.000_03, 0.001])
    for (let turn = 0; turn < 500; turn++) {
      const info = modelInfo().parse({
        input_cost_per_token: price(),
        output_cost_per_token: price(),
        input_cost_per_token_batches: price(),
        output_cost_per_token_batches: price(),
        batch_price_multiplier: random.pick([0, 0.5, 1, 3]),
      })
      const most = random.integer(1, 5000)
      const bytes = random.integer(40, 400)
      const { holdNano } = cost({ ...OF_BATCH, bytes: new Uint8Array(bytes) }, { max_tokens: most }, { info })
      const used = usageOf({ inputTokens: random.integer(1, bytes / 4), outputTokens: random.integer(1, most) })
      const billed = costNano(input.endpoint.mode, info, used, OF_BATCH)
      if (billed !== undefined) expect(holdNano, JSON.stringify(info)).toBeGreaterThanOrEqual(billed)
    }
  })
})
