import { describe, expect, it } from 'vitest'
import { chat } from '../../src/modes/chat.ts'
import { asMode } from '../../src/modes/mode.ts'
import { costNano } from '../../src/modes/price/cost.ts'
import { type Usage, usageOf } from '../../src/modes/usage.ts'
import { geminiUsage } from '../../src/providers/gemini/gemini-usage.ts'
import { providers } from '../../src/providers/index.ts'
import { priceRowOf, withListPrices } from '../../src/providers/price-table.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { registryOf } from '../support/registry.ts'

/** What a deployment of a model costs, as the registry builds it. */
function info(model: string, own: object = {}, place: object = { region: 'us-east-1' }) {
  const entry = { model_name: 'm', gateway_params: { model, api_key: 'k', ...place }, model_info: own }
  const config = loadConfig(JSON.stringify({ model_list: [entry] }), {})
  const deployment = registryOf(config, providers).resolve('m')?.deployments[0]
  if (!deployment) throw new Error(`no deployment of ${model}`)
  return deployment.info
}

describe('the price table', () => {
  it.each([
    ['openai/gpt-4o', { input_cost_per_token: 0.0000025, output_cost_per_token: 0.00001 }],
    ['openai/gpt-4o-2024-08-06', { input_cost_per_token: 0.0000025 }],
    ['openai/gpt-4o-2024-05-13', { input_cost_per_token: 0.000005 }],
    ['openai/gpt-5-chat-latest', { output_cost_per_token: 0.00001, cached_input_cost_per_token: 0.000000125 }],
    ['anthropic/claude-sonnet-4-5-20250929', { cache_creation_input_cost_per_token: 0.00000375 }],
    ['anthropic/claude-3-5-haiku-latest', { input_cost_per_token: 0.0000008 }],
    ['bedrock/us.anthropic.claude-3-7-sonnet-20250219-v1:0', { output_cost_per_token: 0.000015 }],
    ['bedrock/global.anthropic.claude-haiku-4-5-20251001-v1:0', { output_cost_per_token: 0.000005 }],
    ['bedrock/amazon.nova-lite-v1:0', { input_cost_per_token: 0.00000006 }],
    ['gemini/gemini-2.0-flash-001', { input_cost_per_token: 0.0000001 }],
    ['cohere/command-r-08-2024', { input_cost_per_token: 0.00000015 }],
    ['cohere/rerank-v3.5', { cost_per_rerank_unit: 0.002 }],
    ['openai/tts-1', { cost_per_character: 0.000015 }],
    ['openai/whisper-1', { cost_per_audio_second: 0.0001 }],
    ['openai/gpt-transcribe', { cost_per_audio_second: 0.000075 }],
    ['openai/gpt-image-2.5-flare-2026-09-08', { output_cost_per_token: 0.00003, input_cost_per_image_token: 0.000008 }],
    ['openai/chatgpt-image-latest', { output_cost_per_token: 0.000032 }],
    ['cohere/rerank-v5.0-pro', { input_cost_per_token: 0.00000005 }],
    ['mistral/voxtral-mini-latest', { cost_per_audio_second: 0.00005 }],
    ['gemini/gemini-3.1-flash-image', { output_cost_per_token: 0.00006 }],
    ['mistral/mistral-medium-2508', { input_cost_per_token: 0.0000004 }],
    ['mistral/mistral-medium-latest', { input_cost_per_token: 0.0000015 }],
    ['openai/gpt-5.6-sol-2026-07-09', { cache_creation_input_cost_per_token: 0.000005 }],
    ['bedrock/global.anthropic.claude-opus-4-6-v1', { output_cost_per_token: 0.000025 }],
    ['bedrock/global.anthropic.claude-haiku-5-5', { cached_input_cost_per_token: 0.00000001 }],
    // A region costs a tenth more, from Sonnet 4.5 on.
    ['bedrock/jp.anthropic.claude-opus-5-5', { input_cost_per_token: 0.0000044, output_cost_per_token: 0.000022 }],
    ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', { cache_creation_input_cost_per_token: 0.000004125 }],
    ['bedrock/us.amazon.nova-2-lite-v1:0', { cached_input_cost_per_token: 0.0000000825 }],
    ['bedrock/amazon.titan-embed-text-v1', { input_cost_per_token: 0.0000001 }],
    ['bedrock/amazon.titan-embed-text-v2:0', { input_cost_per_token: 0.00000002 }],
    ['bedrock/amazon.rerank-v1:0', { cost_per_rerank_unit: 0.001 }],
    ['bedrock/us.meta.llama3-3-70b-instruct-v1:0', { output_cost_per_token: 0.00000072 }],
    ['deepgram/aura-2-thalia-en', { cost_per_character: 0.00003 }],
    ['deepgram/aura-asteria-en', { cost_per_character: 0.000015 }],
    ['elevenlabs/eleven_multilingual_v2', { cost_per_character: 0.0001 }],
    ['elevenlabs/scribe_v2', { cost_per_audio_second: 0.0000611111111111 }],
    ['deepgram/nova-2-phonecall', { cost_per_audio_second: 0.0000716666666667 }],
    ['cohere/command-a-vision-07-2025', { output_cost_per_token: 0.00001 }],
    ['openai/gpt-5.2-chat-latest', { output_cost_per_token: 0.000014 }],
    ['openai/gpt-3.5-turbo-1106', { input_cost_per_token: 0.000001 }],
    ['groq/moonshotai/kimi-k2-instruct-0905', { cached_input_cost_per_token: 0.0000005 }],
    ['voyage/voyage-law-2', { input_cost_per_token: 0.00000012 }],
  ])('knows %s', (model, prices) => {
    expect(info(model)).toMatchObject(prices)
  })

  it.each([
    ['vertex/claude-opus-5-5@20260922', { region: 'global' }, 0.00002],
    ['vertex/claude-opus-5-5@20260922', { region: 'eu' }, 0.000022],
    ['vertex/claude-opus-5-5@20260922', {}, 0.00002],
    ['vertex/claude-opus-4-1@20250805', { region: 'us-east5' }, 0.000075],
    ['vertex/gemini-2.5-pro', { region: 'europe-west1' }, 0.00001],
    ['openai/gpt-6-sol', {}, 0.00001],
    ['openai/gpt-6-sol', { api_base: 'https://eu.api.openai.com/v1' }, 0.000011],
    ['openai/gpt-6-sol', { api_base: 'https://ours.example/v1' }, 0.00001],
    ['openai/gpt-5.2', { api_base: 'https://eu.api.openai.com/v1' }, 0.000014],
    ['xai/grok-4.6', { api_base: 'https://us.api.x.ai/v1' }, 0.0000066],
    ['azure/prod', { api_base: 'https://r.openai.azure.com', base_model: 'gpt-6-sol' }, 0.00001],
    [
      'bedrock/arn:aws:bedrock:eu-west-1:1:application-inference-profile/p',
      { region: 'eu-west-1', base_model: 'amazon.nova-lite-v1:0' },
      0.00000024,
    ],
  ])(
    'knows what %s costs where calls stay in a region, or another model is behind the name: %o',
    (model, place, output_cost_per_token) => {
      expect(info(model, {}, place)).toMatchObject({ output_cost_per_token })
    },
  )

  it('knows nothing of other models and of what is hosted by oneself', () => {
    for (const [provider, model] of [
      ['openai', 'gpt-4o-audio-preview'],
      ['openai', 'constructor'],
      ['bedrock', 'us.anthropic.claude-instant-v1'],
      ['azure', 'gpt-4o'],
      ['ollama', 'llama3.2'],
      ['__proto__', 'toString'],
    ] as const) {
      expect(priceRowOf(provider, model)).toBeUndefined()
    }
    const azure = { api_base: 'https://r.openai.azure.com' }
    for (const model of [info('echo/echo'), info('azure/gpt-6-sol', {}, azure)])
      expect(model).not.toHaveProperty('input_cost_per_token')
  })

  it.each([
    ['openai/gpt-5-mini', { price_multipliers: { 'service_tier/priority': 1.8, 'service_tier/flex': 0.5 } }],
    ['openai/gpt-4.1-2025-04-14', { price_multipliers: { 'service_tier/priority': 1.75 } }],
    ['openai/gpt-4o', { price_multipliers: { 'service_tier/priority': 2 }, long_context_above: undefined }],
    ['anthropic/claude-sonnet-4-5-20250929', { long_context_above: 200_000, long_context_input_multiplier: 2 }],
    ['anthropic/claude-sonnet-4-0', { long_context_above: 200_000 }],
    ['anthropic/claude-sonnet-4-20250514', { long_context_above: 200_000 }],
    ['vertex/claude-sonnet-4@20250514', { long_context_above: 200_000 }],
    ['bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0', { long_context_above: 200_000 }],
    ['bedrock/anthropic.claude-sonnet-4-20250514-v1:0', { long_context_above: 200_000 }],
    ['anthropic/claude-sonnet-4-6', { long_context_above: undefined }],
    ['bedrock/global.anthropic.claude-sonnet-4-6', { long_context_above: undefined }],
    ['anthropic/claude-opus-4-5', { long_context_above: undefined, tool_costs: { web_search: 0.01 } }],
    ['gemini/gemini-2.5-pro', { long_context_above: 200_000, long_context_output_multiplier: 1.5 }],
    ['gemini/gemini-2.5-pro', { price_multipliers: { 'service_tier/priority': 2, 'service_tier/flex': 0.5 } }],
    ['gemini/gemini-2.5-flash', { input_cost_per_audio_token: 0.000001, long_context_above: undefined }],
    ['gemini/gemini-2.5-flash', { tool_costs: { google_search: 0.035, google_maps: 0.025 } }],
    ['gemini/gemini-3.8-flash', { tool_costs: { google_search: 0.014, google_maps: 0.025 } }],
    ['vertex/gemini-4-neon', { tool_costs: { google_search: 0.014, google_maps: 0.014 } }],
    ['openai/gpt-5.5', { price_multipliers: { 'service_tier/fast': 2.5, 'service_tier/ultrafast': 6 } }],
    ['anthropic/claude-opus-5-5', { price_multipliers: { 'speed/fast': 2, 'inference_geo/us': 1.1 } }],
    ['anthropic/claude-sonnet-5-5', { long_context_above: undefined }],
    ['bedrock/eu.anthropic.claude-haiku-5-5', { long_context_above: 100_000 }],
    ['openai/gpt-5.4-mini', { long_context_above: undefined }],
    ['openai/gpt-5.4-pro', { long_context_above: 272_000 }],
    ['gemini/gemini-3.1-pro-preview', { long_context_above: 200_000 }],
    ['gemini/gemini-3-pro-image', { long_context_above: undefined }],
    ['xai/grok-4-0709', { long_context_above: 128_000 }],
  ])('knows what %s costs beyond that', (model, surcharges) => {
    for (const [name, value] of Object.entries(surcharges)) {
      const known = info(model)[name as keyof typeof surcharges]
      if (typeof value === 'object') expect(known).toMatchObject(value)
      else expect(known).toBe(value)
    }
  })

  /** The cost of a call at a deployment that has no prices of its own, in nano-dollars. */
  const invoice = (model: string, usage: Partial<Usage>) => costNano(asMode(chat), info(model), usageOf(usage))
  const cache = { cachedInputTokens: 20_000, cacheCreationInputTokens: 30_000, cacheCreation1hInputTokens: 10_000 }
  it.each([
    // What is written for 5 minutes and for an hour.
    ['anthropic/claude-fable-5-2', 90_000, {}, [8, 0.2, 10, 16, 40]],
    // Each token of a long prompt and of its answer costs five times as much.
    ['anthropic/claude-haiku-5-5', 100_000, {}, [0.1, 0.01, 0.125, 0.2, 0.5]],
    ['anthropic/claude-haiku-5-5', 100_001, {}, [0.5, 0.05, 0.625, 1, 2.5]],
    // What is written for 30 minutes and for 12 hours.
    ['openai/gpt-6.2-sol', 272_000, {}, [2, 0.1, 2.5, 5, 10]],
    ['openai/gpt-6.2-sol', 272_001, {}, [4, 0.2, 5, 10, 15]],
    ['openai/gpt-6.2-astra', 90_000, { service_tier: 'priority' }, [16, 0.8, 20, 40, 80]],
    ['openai/gpt-6.1-terra', 90_000, { service_tier: 'flex' }, [0.5, 0.025, 0.625, 1.25, 2.5]],
  ] as const)('comes to the invoice: %s, %i tokens %o', (model, inputTokens, terms, perMillion) => {
    const [input, cached, written, for1h, output] = perMillion
    const dollars = (inputTokens - 50_000) * input + 20_000 * (cached + written) + 10_000 * for1h + 10 * output
    expect(invoice(model, { inputTokens, outputTokens: 10, ...cache, terms })).toBe(Math.round(dollars * 1000))
  })

  it('comes to the invoice of sounds, images and searches', () => {
    const heard = { inputTokens: 1000, audioInputTokens: 400, outputTokens: 0 }
    expect(invoice('gemini/gemini-3-flash-preview', heard)).toBe(600 * 500 + 400 * 1000)
    // Of each kind of content, too, what is cached is a part of the prompt, and audio stays dearer there.
    const again = geminiUsage({
      promptTokenCount: 1000,
      cachedContentTokenCount: 850,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 100 },
        { modality: 'AUDIO', tokenCount: 900 },
      ],
      cacheTokensDetails: [
        { modality: 'TEXT', tokenCount: 50 },
        { modality: 'AUDIO', tokenCount: 800 },
      ],
    })
    const cached = 50 * 30 + 800 * 100
    expect(invoice('gemini/gemini-2.5-flash', again ?? {})).toBe(50 * 300 + 100 * 1000 + cached)
    const seen = { inputTokens: 1000, imageInputTokens: 400, outputTokens: 100 }
    expect(invoice('openai/gpt-image-2', seen)).toBe(600 * 5000 + 400 * 8000 + 100 * 30_000)
    const searched = { inputTokens: 0, outputTokens: 1000, toolUses: { google_search: 3 } }
    expect(invoice('gemini/gemini-4-neon', searched)).toBe(1000 * 15_000 + 3 * 14_000_000)
    expect(invoice('anthropic/claude-opus-5-5', { ...heard, terms: { speed: 'fast' } })).toBe(1000 * 8000)
    expect(invoice('xai/grok-4.7', { inputTokens: 199_999, outputTokens: 1 })).toBe(199_999 * 2000 + 6000)
    expect(invoice('xai/grok-4.7', { inputTokens: 200_000, outputTokens: 1 })).toBe(200_000 * 4000 + 12_000)
  })

  it('adds the surcharges of a deployment to those of its vendor, and lets them win', () => {
    const own = info('openai/gpt-4o', {
      input_cost_per_token: 0.5,
      price_multipliers: { 'service_tier/priority': 3, 'speed/fast': 6 },
      tool_costs: { browser: 1 },
    })
    expect(own.price_multipliers).toMatchObject({ 'service_tier/priority': 3, 'speed/fast': 6, 'service_tier/fast': 2 })
    expect(own.tool_costs).toMatchObject({ browser: 1, web_search: 0.01 })
    const audio = info('gemini/gemini-2.5-flash', { input_cost_per_token: 0.5 })
    expect(audio).not.toHaveProperty('input_cost_per_audio_token')
    const written = info('openai/gpt-6.2-sol', { input_cost_per_token: 0.5, cache_creation_input_cost_per_token: 1 })
    expect(written).not.toHaveProperty('cache_creation_1h_input_cost_per_token')
    const images = info('openai/gpt-image-1', { input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 })
    expect(images).not.toHaveProperty('input_cost_per_image_token')
  })

  it("gives way to a deployment's own numbers, one by one", () => {
    expect(info('openai/gpt-4o', { output_cost_per_token: 0.5 })).toMatchObject({
      input_cost_per_token: 0.0000025,
      output_cost_per_token: 0.5,
      cached_input_cost_per_token: 0.00000125,
    })
    const own = info('openai/gpt-4o', { input_cost_per_token: 0 })
    expect(own).toMatchObject({ input_cost_per_token: 0, output_cost_per_token: 0.00001 })
    expect(own).not.toHaveProperty('cached_input_cost_per_token')
  })

  it('holds prices that the configuration would take', () => {
    const base = info('echo/echo')
    for (const model of ['gpt-4o', 'dall-e-3']) {
      const merged = withListPrices('openai', model, base)
      const entry = { model_name: 'm', gateway_params: { model: 'echo/e' }, model_info: { ...merged } }
      expect(() => loadConfig(JSON.stringify({ model_list: [entry] }), {})).not.toThrow()
    }
  })
})
