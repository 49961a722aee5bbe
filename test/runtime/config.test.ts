import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/config-error.ts'
import { configJsonSchema, loadConfig } from '../../src/routing/configuration.ts'

describe('the configuration, on this runtime', () => {
  it('loads', () => {
    const yaml = 'model_list: [{ model_name: m, gateway_params: { model: echo/x, timeout: os.environ/T } }]'
    const config = loadConfig(yaml, { T: '5', DATABASE_URL: 'postgres://db/one' })
    expect(config.model_list[0]).toMatchObject({
      deployment_id: 'm-1',
      gateway_params: { provider: 'echo', timeout: 5 },
    })
    expect(JSON.stringify(config.general_settings.database_url)).toBe('"[secret]"')
  })

  it('tells its mistakes', () => {
    expect(() => loadConfig('a: {', {})).toThrow(ConfigError)
    expect(() => loadConfig('['.repeat(50_000), {})).toThrow(ConfigError)
    expect(() => loadConfig('router_settings: { timeout: soon }', {})).toThrow(
      'router_settings.timeout: must be a number',
    )
    const address =
      'model_list: [{ model_name: m, gateway_params: { model: echo/x, api_base: "http://127.0.0.1.example.com" } }]'
    expect(() => loadConfig(address, {})).toThrow('http:// is for loopback and private hosts')
  })

  it('writes its JSON Schema', () => {
    expect(configJsonSchema()).toMatchObject({ title: 'Gateway configuration', properties: { model_list: {} } })
  })
})
