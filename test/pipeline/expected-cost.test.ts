import { describe, expect, it } from 'vitest'
import { messagesDefaults, responsesDefaults } from '../../src/api/dialects/default-words.ts'
import { audioTranscription } from '../../src/modes/audio-transcription.ts'
import { chat } from '../../src/modes/chat.ts'
import { embedding } from '../../src/modes/embedding.ts'
import { asMode } from '../../src/modes/mode.ts'
import { rerank } from '../../src/modes/rerank.ts'
import { expectedCost } from '../../src/pipeline/expected-cost.ts'

type Parameters = globalThis.Parameters<typeof expectedCost>

const services = { usual: { of: () => undefined, learn() {} } } as unknown as Parameters[0]
const input = {
  endpoint: { mode: asMode(chat) },
  bytes: new Uint8Array(100),
  form: undefined,
} as unknown as Parameters[1]
const accounts = [{ limitNano: 1 }] as unknown as Parameters[4]
const costOf = (fields: object, output_cost_per_token = 0.001, defaults?: object) => {
  const info = { input_cost_per_token: 0.001, output_cost_per_token }
  const request = { model: 'm', ...fields } as Parameters[2]
  const endpoint = defaults ? { ...input.endpoint, dialect: { defaults } } : input.endpoint
  const asked = { ...input, endpoint } as Parameters[1]
  return expectedCost(services, asked, request, [{ id: 'd', info }] as unknown as Parameters[3], accounts)
}

describe('what is held for a call', () => {
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

  it('is by the length of a recording where that is all that is known', () => {
    const secondsOf = (raw: object, info: object) => {
      const form = { raw }
      const asked = { ...input, form, endpoint: { mode: asMode(audioTranscription) } } as unknown as Parameters[1]
      const deployments = [{ id: 'd', info }] as unknown as Parameters[3]
      return expectedCost(services, asked, { model: 'm' }, deployments, accounts)
    }
    const perSecond = { cost_per_audio_second: 1 }
    expect(secondsOf({ length: 160_000 }, perSecond)).toEqual({ holdNano: 40e9, likelyNano: 10e9 })
    expect(secondsOf({ received: 10, ended: false }, perSecond).likelyNano).toBeGreaterThan(60e9)
    expect(secondsOf({ received: 160_000, ended: true }, perSecond).likelyNano).toBe(10e9)
    const perToken = { input_cost_per_token: 1, output_cost_per_token: 1 }
    expect(secondsOf({ length: 160_000 }, perToken).likelyNano).toBe(140e9)
  })

  it.each([
    ['embeddings', asMode(embedding), { input: 'Hi' }],
    ['rerankings by tokens', asMode(rerank), { query: 'Hi', documents: ['Hi'] }],
  ])('is the price of the input where nothing is written: %s', (_name, mode, fields) => {
    const request = { model: 'm', ...fields } as Parameters[2]
    const deployments = [{ id: 'd', info: { input_cost_per_token: 0.001, batch_price_multiplier: 1 } }]
    const asked = { ...input, endpoint: { mode } } as unknown as Parameters[1]
    const cost = expectedCost(services, asked, request, deployments as unknown as Parameters[3], accounts)
    expect(cost).toEqual({ holdNano: 100 * 1_000_000, likelyNano: 25 * 1_000_000 })
  })
})
