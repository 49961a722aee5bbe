import { describe, expect, it } from 'vitest'
import { checkedConfig } from '../../../../src/routing/checked-config.ts'
import { checkedOnWorkers } from '../../../../src/runtimes/local/deploy/checked-on-workers.node.ts'
import { mistakesOnWorkers, outOfReach } from '../../../../src/runtimes/local/deploy/on-workers.ts'

const KEYS = { GATEWAY_MASTER_KEY: 'sk-stands-for-a-key-7d1f-7d1f', GATEWAY_SALT_KEY: 'stands-for-a-key-7d1f-7d1f' }
const configured = (yaml: string) => checkedConfig(yaml, KEYS)

describe('a deployment to Workers is refused', () => {
  const pathsOf = (yaml: string, bindsLogs = false) =>
    mistakesOnWorkers(configured(yaml), bindsLogs).map(({ path }) => path)

  it('for e-mail by SMTP', () => {
    const sent = 'email_from: a@example.com, email_base_url: "https://gateway.example.com"'
    const smtp = `general_settings: { email_provider: smtp, email_smtp_host: mail.example.com, ${sent} }`
    expect(pathsOf(smtp)).toEqual(['general_settings.email_provider'])
    expect(pathsOf(`general_settings: { email_provider: resend, email_api_key: key-7d1f, ${sent} }`)).toEqual([])
  })

  it('for a sink s3 that has neither a key nor a bucket', () => {
    const s3 = (key = '') =>
      `gateway_settings: { success_callback: [s3], callback_settings: { s3: { bucket: b, region: auto${key} } } }`
    expect(pathsOf(s3())).toEqual(['gateway_settings.callback_settings.s3'])
    expect(pathsOf(s3(', access_key_id: id, secret_access_key: key'))).toEqual([])
    expect(pathsOf(s3(), true)).toEqual([])
  })
})

it('names what Workers does not reach', () => {
  const models = ['echo/a', 'openai/b', 'ollama/c'].map(
    (model) => `{ model_name: ${model}, gateway_params: { model: ${model}, api_key: key-7d1f } }`,
  )
  const near = '{ model_name: near, gateway_params: { model: vllm/d, api_base: "https://10.0.0.7/v1" } }'
  const servers = ['tools.example', 'tools'].map(
    (host) => `{ server_key: of-${host.length}, base_url: "https://${host}/mcp" }`,
  )
  const sinks = 'success_callback: [otel], callback_settings: { otel: { service_name: gateway } }'
  const yaml = `
gateway_settings: { mcp_servers: [${servers}], ${sinks} }
model_list: [${[...models, near]}]`
  expect(outOfReach(configured(yaml))).toEqual([
    'ollama/c-1 (http://localhost:11434)',
    'near-1 (https://10.0.0.7)',
    'of-5 (https://tools/mcp)',
    'otel (http://localhost:4318)',
  ])
})

describe('variables that are at Cloudflare alone', () => {
  const wanted = { bindsLogs: false, variables: KEYS }
  const checked = (yaml: string, env = {}) =>
    checkedOnWorkers(yaml, { needed: ['BASE', 'RPM', 'CACHED', 'LEVEL'], env, wanted })
  const model = (rpm: string) =>
    `model_list: [{ model_name: m, gateway_params: { model: openai/m, api_key: k, api_base: os.environ/BASE }, model_info: { rpm_limit: ${rpm} } }]`

  it('may be addresses, numbers and flags', () => {
    const yaml = `general_settings: { cache_enabled: os.environ/CACHED }\n${model('os.environ/RPM')}`
    expect(checked(yaml).model_list[0]?.gateway_params.api_base).toMatch(/^https:/)
  })

  it.each([
    ['a mistake of the file alone', model('-1'), {}, /^model_list\[0\]\.model_info\.rpm_limit: [^\n]+$/],
    ['a value that is here', model('os.environ/RPM'), { RPM: 'many' }, /^model_list[^\n]+ RPM\)$/],
    ['a word that nobody can guess', 'general_settings: { log_level: os.environ/LEVEL }', {}, /LEVEL\)\nSet LEVEL to/],
  ])('do not hide %s', (_, yaml, env, words) => {
    expect(() => checked(yaml, env)).toThrow(words)
  })
})
