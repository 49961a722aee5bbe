import { describe, expect, it, vi } from 'vitest'
import type { Vendor } from '../../../src/providers/openai-compatible/index.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import type { Strategy } from '../../../src/routing/strategies/strategy.ts'
import { withGateway } from '../../support/with-gateway.ts'

// What the contributing guide says of additions, followed to the letter: one thing each, and its line in its registry.
vi.mock(import('../../../src/providers/openai/vendors.ts'), async (original) => {
  const vendors = await original()
  const nearby: Vendor = { label: 'Nearby', modes: [] }
  return { ...vendors, OPENAI_VENDORS: { ...vendors.OPENAI_VENDORS, nearby } }
})
vi.mock(import('../../../src/providers/index.ts'), async (original) => {
  const { providers } = await original()
  const { echo } = await import('../../../src/providers/echo/index.ts')
  const parrot: Provider = { ...echo, kind: 'parrot' }
  return { providers: new Map([...providers, [parrot.kind, parrot]]) }
})
vi.mock(import('../../../src/routing/strategies/index.ts'), async (original) => {
  const { strategies } = await original()
  const lastNamed: Strategy = {
    name: 'last-named',
    meaning: 'By name.',
    rank: ({ id }) => -id.charCodeAt(0),
    because: ({ id }) => `its id is ${id}`,
  }
  return { strategies: new Map([...strategies, [lastNamed.name, lastNamed]]) }
})

const DEPLOYMENTS = ['a', 'z', 'm'].map((id) => ({
  model_name: 'bird',
  deployment_id: id,
  gateway_params: { model: 'parrot/grey' },
}))
const CONFIG = { router_settings: { routing_strategy: 'last-named' }, model_list: DEPLOYMENTS }

const gateway = withGateway(() => JSON.stringify(CONFIG))

const withParams = (gateway_params: object) => JSON.stringify({ model_list: [{ model_name: 'bird', gateway_params }] })
const withStrategy = (routing_strategy: string) => JSON.stringify({ router_settings: { routing_strategy } })

/** Every list of values in a JSON Schema. */
function enumsIn(schema: unknown): string[][] {
  if (typeof schema !== 'object' || schema === null) return []
  // A property may have that name, too.
  const isEnum = (key: string, value: unknown) => key === 'enum' && Array.isArray(value)
  return Object.entries(schema).flatMap(([key, value]) => (isEnum(key, value) ? [value] : enumsIn(value)))
}

describe('what is added to a registry', () => {
  it('is a name that the configuration takes', () => {
    const { model_list } = loadConfig(JSON.stringify(CONFIG), {})
    expect(model_list[0]?.gateway_params).toMatchObject({ provider: 'parrot', upstream_model: 'grey' })
    expect(loadConfig(withParams({ provider: 'parrot', model: 'grey' }), {}).model_list).toHaveLength(1)
    const nearby = loadConfig(withParams({ model: 'nearby/x', api_base: 'https://llm.example/v1' }), {})
    expect(nearby.model_list[0]?.gateway_params.provider).toBe('nearby')
  })

  it('is what a misspelt name is told to be', () => {
    expect(() => loadConfig(withParams({ model: 'parot/grey' }), {})).toThrow("did you mean 'parrot'")
    expect(() => loadConfig(withParams({ provider: 'parot', model: 'grey' }), {})).toThrow("did you mean 'parrot'")
    expect(() => loadConfig(withStrategy('last-name'), {})).toThrow("did you mean 'last-named'")
  })

  it('says itself whether it has an address', () => {
    expect(() => loadConfig(withParams({ model: 'nearby/x' }), {})).toThrow('is required for nearby; add its address')
  })

  it('is in the JSON Schema of the file', async () => {
    const response = await gateway.fetch('/gateway.schema.json')
    const enums = enumsIn(await response.json())
    const kinds = enums.filter((values) => values.includes('openai'))
    expect(kinds).toHaveLength(1)
    expect(kinds[0]).toEqual(expect.arrayContaining(['parrot', 'nearby']))
    const strategies = enums.filter((values) => values.includes('simple-shuffle'))
    expect(strategies).toHaveLength(1)
    expect(strategies[0]).toContain('last-named')
  })

  it('is in the JSON Schema of the records and policies that the admin API takes', async () => {
    const response = await gateway.fetch('/openapi.json')
    const enums = enumsIn(await response.json())
    const kinds = enums.filter((values) => values.includes('openai'))
    const strategies = enums.filter((values) => values.includes('simple-shuffle'))
    expect(kinds.length).toBeGreaterThan(0)
    expect(strategies.length).toBeGreaterThan(0)
    expect(kinds.filter((values) => !values.includes('parrot'))).toEqual([])
    expect(strategies.filter((values) => !values.includes('last-named'))).toEqual([])
  })

  it('serves calls, in the order of its strategy', async () => {
    for (let call = 0; call < 5; call++) {
      const response = await gateway.chat({ model: 'bird', messages: [{ role: 'user', content: 'say it again' }] })
      expect(response.status).toBe(200)
      expect(response.headers.get('x-gateway-deployment')).toBe('z')
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'say it again' } }] })
    }
  })
})
