import { describe, expect, it } from 'vitest'
import { providers } from '../../src/providers/index.ts'
import { listPrices, withListPrices } from '../../src/providers/price-table.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { registryOf } from '../support/registry.ts'

/** What a deployment of a model costs, as the registry builds it. */
function info(model: string, own: object = {}) {
  const entry = { model_name: 'm', gateway_params: { model, api_key: 'k', region: 'us-east-1' }, model_info: own }
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
    ['mistral/voxtral-mini-latest', { cost_per_audio_second: 0.00005 }],
  ])('knows %s', (model, prices) => {
    expect(info(model)).toMatchObject(prices)
  })

  it('knows nothing of other models and of what is hosted by oneself', () => {
    for (const [provider, model] of [
      ['openai', 'gpt-4o-audio-preview'],
      ['openai', 'constructor'],
      ['bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
      ['azure', 'gpt-4o'],
      ['ollama', 'llama3.2'],
      ['__proto__', 'toString'],
    ] as const) {
      expect(listPrices(provider, model)).toEqual({})
    }
    expect(info('echo/echo')).not.toHaveProperty('input_cost_per_token')
  })

  it.each([
    ['openai/gpt-5-mini', { price_multipliers: { 'service_tier/priority': 2, 'service_tier/flex': 0.5 } }],
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
    ['xai/grok-4', { long_context_above: 128_000 }],
  ])('knows what %s costs beyond that', (model, surcharges) => {
    for (const [name, value] of Object.entries(surcharges)) {
      const known = info(model)[name as keyof typeof surcharges]
      if (typeof value === 'object') expect(known).toMatchObject(value)
      else expect(known).toBe(value)
    }
  })

  it('adds the surcharges of a deployment to those of its vendor, and lets them win', () => {
    const own = info('openai/gpt-4o', {
      input_cost_per_token: 0.5,
      price_multipliers: { 'service_tier/priority': 3, 'speed/fast': 6 },
      tool_costs: { browser: 1 },
    })
    expect(own.price_multipliers).toEqual({ 'service_tier/priority': 3, 'speed/fast': 6 })
    expect(own.tool_costs).toMatchObject({ browser: 1, web_search: 0.01 })
    const audio = info('gemini/gemini-2.5-flash', { input_cost_per_token: 0.5 })
    expect(audio).not.toHaveProperty('input_cost_per_audio_token')
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
