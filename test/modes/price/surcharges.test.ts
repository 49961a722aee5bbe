import { describe, expect, it } from 'vitest'
import { type ModelInfo, modelInfo } from '../../../src/config/sections/model-list.ts'
import { chat } from '../../../src/modes/chat.ts'
import { asMode } from '../../../src/modes/mode.ts'
import { costNano } from '../../../src/modes/price/cost.ts'
import { settledTerms, settledUses, withoutPrice } from '../../../src/modes/price/surcharges.ts'
import { surchargesAsked } from '../../../src/modes/price/surcharges-asked.ts'
import { type Usage, usageOf } from '../../../src/modes/usage.ts'

const CHAT = asMode(chat)
const text = { input_cost_per_token: 0.000003, output_cost_per_token: 0.000015 }
const info = (prices: Partial<ModelInfo>): ModelInfo => modelInfo().parse(prices)
const cost = (prices: Partial<ModelInfo>, usage: Partial<Usage>) => costNano(CHAT, info(prices), usageOf(usage))
const asked = (fields: object) => surchargesAsked({ model: 'm', ...fields })
const names = (fields: object) => asked(fields).map(({ name, value, param }) => [name, value, param].join(' ').trim())

describe('what a request asks for beyond its usual price', () => {
  it.each([
    [{ service_tier: 'priority' }, ['service_tier priority service_tier']],
    [{ service_tier: ' Priority ' }, ['service_tier priority service_tier']],
    [{ service_tier: { type: 'priority' } }, ['service_tier priority service_tier']],
    [{ service_tier: 7 }, ['service_tier unpriced service_tier']],
    [{ service_tier: 'flex' }, ['service_tier flex service_tier']],
    [{ speed: 'fast', inference_geo: 'us' }, ['speed fast speed', 'inference_geo us inference_geo']],
    [{ performanceConfig: { latency: 'optimized' } }, ['performanceConfig optimized performanceConfig']],
    [{ additionalModelRequestFields: { speed: 'fast' } }, ['speed fast additionalModelRequestFields.speed']],
    [{ tools: [{ type: 'function' }, { type: 'web_search' }] }, ['web_search  tools.1.type']],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, ['web_search  tools.0.type']],
    [{ tools: [{ type: 'web_search_preview_2025_03_11' }] }, ['web_search_preview  tools.0.type']],
    [{ tools: [{ type: 'advisor_20260301' }] }, ['advisor  tools.0.type']],
    [{ tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }, ['shell  tools.0.type']],
    [{ tools: [{ type: '$web_search' }] }, ['$web_search  tools.0.type']],
    [{ web_search_options: {} }, ['web_search  web_search_options']],
    [{ search_parameters: { mode: 'on' } }, ['live_search  search_parameters']],
    [{ plugins: [{ id: 'web' }, { id: 'file-parser' }] }, ['web_search  plugins.0', 'file-parser  plugins.1']],
    [{ guardrailConfig: { guardrailIdentifier: 'g' } }, ['guardrail  guardrailConfig']],
  ] as const)('is found: %j', (fields, found) => {
    expect(names(fields)).toEqual(found)
  })

  it.each([
    {},
    { service_tier: 'auto', speed: 'standard', inference_geo: 'global' },
    { service_tier: null, tools: null, plugins: null, web_search_options: null },
    { service_tier: 'standard_only', performanceConfig: { latency: 'standard' } },
    { tools: [{ type: 'function' }, { type: 'custom' }, { name: 'mine' }, { type: 'bash_20250124' }, { type: 'mcp' }] },
    { tools: [{ type: 'shell' }, { type: 'shell', environment: { type: 'local' } }] },
    { search_parameters: { mode: 'off' }, enable_search: false },
  ])('is nothing in %j', (fields) => {
    expect(names(fields)).toEqual([])
  })
})

describe('what it costs', () => {
  const tokens = { inputTokens: 1000, outputTokens: 100 }
  const usual = 3_000_000 + 1_500_000
  const prices = {
    ...text,
    price_multipliers: { 'service_tier/priority': 2, 'service_tier/flex': 0.5, 'speed/fast': 6 },
    tool_costs: { web_search: 0.01, file_search: 0 },
  }
  it.each([
    ['dearer tokens', { ...tokens, terms: { service_tier: 'priority' } }, 2 * usual],
    ['cheaper tokens', { ...tokens, terms: { service_tier: 'flex' } }, usual / 2],
    ['two terms at once', { ...tokens, terms: { service_tier: 'priority', speed: 'fast' } }, 12 * usual],
    ['a usual term', { ...tokens, terms: { service_tier: 'default' } }, usual],
    ['a term without a price', { ...tokens, terms: { service_tier: 'turbo' } }, undefined],
    ['tools beside the tokens', { ...tokens, toolUses: { web_search: 3, file_search: 9 } }, usual + 30_000_000],
    [
      'tools that no tier makes dearer',
      { ...tokens, terms: { speed: 'fast' }, toolUses: { web_search: 1 } },
      6 * usual + 10_000_000,
    ],
    ['a tool without a price', { ...tokens, toolUses: { advisor: 1 } }, undefined],
    ['names that every object has', { ...tokens, terms: { constructor: 'x' }, toolUses: {} }, undefined],
  ])('%s', (_, usage, nano) => {
    expect(cost(prices, usage)).toBe(nano)
  })

  it('is more for all of a long call, and for none of a shorter one', () => {
    const long = {
      ...text,
      long_context_above: 200_000,
      long_context_input_multiplier: 2,
      long_context_output_multiplier: 1.5,
    }
    expect(cost(long, { inputTokens: 200_000, outputTokens: 10 })).toBe(600_000_000 + 150_000)
    expect(cost(long, { inputTokens: 200_001, outputTokens: 10 })).toBe(2 * 600_003_000 + 225_000)
    const cached = { ...long, cached_input_cost_per_token: 0.0000003 }
    expect(cost(cached, { inputTokens: 200_001, cachedInputTokens: 200_001 })).toBe(2 * 60_000_300)
  })

  it('is that of audio tokens, where they have a price of their own', () => {
    const usage = { inputTokens: 100, audioInputTokens: 60, outputTokens: 50, audioOutputTokens: 20 }
    expect(cost(text, usage)).toBe(300_000 + 750_000)
    const audio = { ...text, input_cost_per_audio_token: 0.00004, output_cost_per_audio_token: 0.00008 }
    expect(cost(audio, usage)).toBe(40 * 3000 + 60 * 40_000 + 30 * 15_000 + 20 * 80_000)
    // A report that claims more than the whole.
    expect(cost(audio, { ...usage, audioInputTokens: 1e6 })).toBe(100 * 40_000 + 30 * 15_000 + 20 * 80_000)
  })
})

describe('what is billed in the end', () => {
  const known = info({
    ...text,
    price_multipliers: { 'service_tier/priority': 2, 'service_tier/flex': 0.5 },
    tool_costs: { web_search: 0.01, web_search_preview: 0.025 },
  })
  it.each([
    [
      'what was asked for, where nothing is reported',
      { service_tier: 'priority' },
      undefined,
      { service_tier: 'priority' },
    ],
    ['what was given, where that is less', { service_tier: 'priority' }, { service_tier: 'default' }, undefined],
    ['what was given unasked', undefined, { service_tier: 'priority' }, { service_tier: 'priority' }],
    ['a discount that was given', { service_tier: 'flex' }, { service_tier: 'flex' }, { service_tier: 'flex' }],
    ['no discount that nobody confirmed', { service_tier: 'flex' }, undefined, undefined],
    ['the usual price for terms that nobody asked for', undefined, { service_tier: 'golden' }, undefined],
    ['nothing known for terms without a price', { speed: 'sk-canary' }, undefined, { speed: 'unpriced' }],
    ['nothing known for such terms, confirmed', { speed: 'warp' }, { speed: 'warp' }, { speed: 'unpriced' }],
  ])('is %s', (_, wanted, reported, terms) => {
    expect(settledTerms(known, wanted, reported)).toEqual(terms)
  })

  it.each([
    ['what was reported', { web_search: 1 }, { web_search: 4 }, { web_search: 4 }],
    ['nothing, where nothing was used', { web_search: 1 }, {}, undefined],
    ['what was asked for, where nothing is reported', { web_search: 1 }, undefined, { web_search: 1 }],
    [
      'of two kinds the one that was asked for',
      { web_search_preview: 1 },
      { web_search: 2 },
      { web_search_preview: 2 },
    ],
    ['nothing that was done unasked and has no price', {}, { tool_search: 2 }, undefined],
    ['nothing known for tools without a price', { advisor: 1 }, undefined, { unpriced: 1 }],
  ])('counts %s', (_, wanted, reported, uses) => {
    expect(settledUses(known, wanted, reported)).toEqual(uses)
  })

  it('names what has no price', () => {
    const fields = { service_tier: 'priority', speed: 'fast', tools: [{ type: 'web_search' }] }
    expect(withoutPrice(known, asked(fields))).toMatchObject({ param: 'speed' })
    expect(withoutPrice(known, asked({ ...fields, speed: null }))).toBeUndefined()
    expect(withoutPrice(info(text), asked({ tools: [{ type: 'constructor' }] }))).toMatchObject({
      param: 'tools.0.type',
    })
    // Never dearer than the usual price, by its name.
    expect(withoutPrice(info(text), asked({ service_tier: 'flex' }))).toBeUndefined()
  })
})
