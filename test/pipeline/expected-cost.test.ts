import { describe, expect, it } from 'vitest'
import { chat } from '../../src/modes/chat.ts'
import { asMode } from '../../src/modes/mode.ts'
import { expectedCost } from '../../src/pipeline/expected-cost.ts'

type Parameters = globalThis.Parameters<typeof expectedCost>

const services = { usual: { of: () => undefined, learn() {} } } as unknown as Parameters[0]
const input = {
  endpoint: { mode: asMode(chat) },
  bytes: new Uint8Array(100),
  form: undefined,
} as unknown as Parameters[1]
const accounts = [{ limitNano: 1 }] as unknown as Parameters[4]
const costOf = (fields: object, output_cost_per_token = 0.001) => {
  const info = { input_cost_per_token: 0.001, output_cost_per_token }
  const request = { model: 'm', ...fields } as Parameters[2]
  return expectedCost(services, input, request, [{ id: 'd', info }] as unknown as Parameters[3], accounts)
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
})
