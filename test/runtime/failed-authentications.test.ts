import { describe, expect, it } from 'vitest'
import { newApiKey } from '../../src/lib/token.ts'
import { withGateway } from '../support/with-gateway.ts'

const yaml = `
general_settings: { max_failed_authentications: 20 }
model_list:
  - model_name: echo
    gateway_params: { model: echo/echo }
`
const gateway = withGateway(() => yaml)

const messages = [{ role: 'user', content: 'Hi' }]
const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

describe('an address that fails to authenticate again and again', () => {
  it('gets 429 for what fails, whatever it is, and its valid key goes on working', async () => {
    const statuses: number[] = []
    for (let turn = 0; turn < 40; turn++) {
      const key = turn % 2 === 0 ? 'sk-nonsense' : `sk-${'A'.repeat(48)}`
      const response = await gateway.fetch('/v1/models', withKey(key))
      statuses.push(response.status)
      if (response.status === 429) {
        const { error } = (await response.json()) as { error: object }
        expect(error).toMatchObject({ type: 'rate_limit_error', code: 'too_many_failed_authentications' })
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
        expect(JSON.stringify(error)).not.toContain('sk-')
      }
    }
    expect(statuses.slice(0, 20)).toEqual(new Array(20).fill(401))
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(15)
    expect((await gateway.fetch('/v1/chat/completions', { method: 'POST', ...withKey('') })).status).toBe(429)
    for (let turn = 0; turn < 5; turn++) expect((await gateway.chat({ model: 'echo', messages })).status).toBe(200)
  })

  it('has no key looked for that cannot be one', async () => {
    // There is no database here: to ask it would be another answer.
    const key = newApiKey()
    const mistyped = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A')
    expect([401, 429]).toContain((await gateway.fetch('/v1/models', withKey(mistyped))).status)
    expect((await gateway.fetch('/v1/models', withKey(key))).status).toBeGreaterThanOrEqual(500)
  })
})
