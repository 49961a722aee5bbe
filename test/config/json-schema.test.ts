import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configJsonSchema, loadConfig } from '../../src/routing/configuration.ts'
import { accepts } from './accepts.ts'
import { fullEnvironment, fullYaml } from './full.ts'

const schema = configJsonSchema()
const tree = (yaml: string): unknown => parse(yaml, { merge: true }) ?? {}

const FINE = [
  '',
  fullYaml,
  readFileSync(new URL('../../gateway.yaml', import.meta.url), 'utf8'),
  'general_settings:\nmodel_list:\n',
  'general_settings: { master_key: , cache_ttl: , self_registration: }',
  'router_settings: { routing_strategy: os.environ/S, timeout: os.environ/N }',
  'model_list: [{model_name: m, gateway_params: {provider: os.environ/P, model: x}, model_info: {rpm_limit: os.environ/N, tags: [os.environ/S], input_cost_per_image: os.environ/N}}]',
]
const WRONG = [
  'colour: red',
  'general_settings: { colour: red }',
  'general_settings: 1',
  'general_settings: { cache_enabled: yes please }',
  'router_settings: { timeout: soon }',
  'router_settings: { timeout: 0 }',
  'router_settings: { num_retries: 0.5 }',
  'router_settings: { routing_strategy: fastest }',
  'gateway_settings: { fallbacks: { a: [b] } }',
  'gateway_settings: { success_callback: [kafka] }',
  'model_list: [{ model_name: m }]',
  'model_list: [{ model_name: ~, gateway_params: { model: echo/x } }]',
  'model_list: [{ model_name: m, gateway_params: { model: echo/x, api_key: 5 } }]',
  'model_list: [{ model_name: m, gateway_params: { model: echo/x }, model_info: { mode: chats } }]',
]

describe('the JSON Schema', () => {
  it('names itself', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'gateway.schema.json',
      title: 'Gateway configuration',
      type: 'object',
      additionalProperties: false,
    })
  })

  it.each(FINE)('accepts what loads: %#', (yaml) => {
    const env = { ...fullEnvironment, S: 'weighted', N: '5', P: 'echo' }
    expect(() => loadConfig(yaml, env)).not.toThrow()
    expect(accepts(schema, tree(yaml))).toBe(true)
  })

  it.each(WRONG)('refuses what does not load: %s', (yaml) => {
    expect(() => loadConfig(yaml, {})).toThrow()
    expect(accepts(schema, tree(yaml))).toBe(false)
  })

  it('describes every key in one sentence, and the full file uses every key', () => {
    const used = new Set(fullYaml.match(/[\w-]+(?=:)/g))
    const keys = namedIn(schema)
    expect(keys.length).toBeGreaterThan(120)
    for (const [key, description] of keys) {
      expect(description, key).toMatch(/^[A-Z<].*[^.]\.$/s)
      expect(used, key).toContain(key)
    }
  })
})

/** The keys of all maps below, with their descriptions. */
function namedIn(node: unknown): [key: string, description: unknown][] {
  if (typeof node !== 'object' || node === null) return []
  const found: [string, unknown][] = []
  for (const [word, member] of Object.entries(node)) {
    if (word === 'default') continue
    if (word === 'properties') {
      for (const [key, property] of Object.entries(member)) {
        found.push([key, (property as { description?: unknown }).description])
      }
      found.push(...Object.values(member).flatMap(namedIn))
    } else found.push(...namedIn(member))
  }
  return found
}
