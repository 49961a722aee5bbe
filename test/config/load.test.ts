import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { reveal, type Secret } from '../../src/lib/secret.ts'
import { providers } from '../../src/providers/index.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { fullEnvironment, fullYaml } from './full.ts'

const open = (sealed: Secret | undefined) => sealed && reveal(sealed)

describe('a file without anything in it', () => {
  it.each(['', '\n# only a comment\n', '{}', 'general_settings:\nrouter_settings:\ngateway_settings:\nmodel_list:\n'])(
    'gives the defaults: %j',
    (yaml) => {
      const config = loadConfig(yaml, {})
      expect(config.model_list).toEqual([])
      expect(config.router_settings).toEqual({
        routing_strategy: 'simple-shuffle',
        num_retries: 0,
        retry_after: 0,
        timeout: 600,
        total_timeout: 600,
        stream_first_token_timeout: 60,
        stream_idle_timeout: 60,
        stream_keep_alive: 15,
        cooldown_time: 60,
        allowed_fails: 0,
        enable_pre_call_checks: false,
        model_group_alias: {},
      })
      expect(config.gateway_settings).toEqual({
        fallbacks: [],
        context_window_fallbacks: [],
        content_policy_fallbacks: [],
        success_callback: [],
        callback_settings: {},
        turn_off_message_logging: false,
        max_logged_bytes: 16_384,
        key_expiring_days: [7, 1],
        redact: [],
        mcp_servers: [],
      })
      expect(config.general_settings).toMatchObject({
        degraded_mode: 'fail_open',
        embeddings_batch_enabled: false,
        enable_sso: false,
        self_registration: { enabled: false, default_team: { role: 'team_developer' } },
        max_json_bytes: 33_554_432,
        max_upload_bytes: 104_857_600,
        max_backlog_bytes: 1_073_741_824,
        batch_max_file_bytes: 209_715_200,
        batch_max_lines: 50_000,
        batch_max_line_bytes: 1_048_576,
        batch_max_active: 20,
        batch_concurrency: 16,
        file_retention_days: 30,
        spend_log_retention_days: 0,
        audit_retention_days: 0,
        callable_target_default: 'allow',
        cache_enabled: false,
        cache_ttl: 3600,
        log_level: 'info',
      })
      expect(config.general_settings.master_key).toBeUndefined()
    },
  )
})

describe('a file with everything in it', () => {
  const config = loadConfig(fullYaml, fullEnvironment)

  it('opens its secrets only to who asks', () => {
    const printed = JSON.stringify(config)
    expect(printed).not.toContain('canary')
    expect(open(config.general_settings.master_key)).toBe('canary-master-0123456789abcdef')
    expect(open(config.model_list[0]?.gateway_params.headers?.['x-team'])).toBe('canary-header')
    // Each canary of the file is sealed by one of these, so the search above was not for nothing.
    const canaries = fullYaml.match(/canary/g)?.length ?? 0
    expect(printed.match(/\[secret\]/g)).toHaveLength(canaries + ['MASTER', 'AZURE_KEY'].length)
  })

  it('reads numbers and booleans out of variables, and leaves text as text', () => {
    expect(config.general_settings.self_registration.default_user.rpm_limit).toBe(60)
    expect(config.general_settings.cache_enabled).toBe(true)
    expect(config.model_list[0]?.model_info.input_cost_per_image).toEqual({ '1024x1024': 0.04, '1792x1024': 0.08 })
    const yaml = 'model_list: [{model_name: m, gateway_params: {model: echo/m, api_version: os.environ/V}}]'
    // The variables of wrangler.toml have types.
    for (const V of ['2024', 2024, true])
      expect(loadConfig(yaml, { V }).model_list[0]?.gateway_params.api_version).toBe(String(V))
    expect(() => loadConfig(yaml, { V: {} })).toThrow('variable V is not set')
  })

  it('numbers the deployments that have no id within their model', () => {
    const ids = config.model_list.map(({ deployment_id }) => deployment_id)
    expect(ids).toEqual(['gpt-primary', 'gpt-2', 'gpt-mini-1', 'claude-1'])
  })

  it("knows each provider and the provider's own name of the model", () => {
    const names = config.model_list.map(({ gateway_params: { provider, upstream_model } }) => [
      provider,
      upstream_model,
    ])
    expect(names).toEqual([
      ['azure', 'gpt-5'],
      ['openai', 'gpt-5'],
      ['openrouter', 'openai/gpt-5-mini'],
      ['bedrock', 'anthropic.claude-sonnet-4-5'],
    ])
  })

  it('keeps default_params as they were written, empty values too', () => {
    const params = config.model_list[0]?.model_info.default_params
    expect(params).toEqual({ voice_id: 'alto', temperature: 0, nested: { list: [1, null], nothing: null } })
  })

  it('compares addresses and domains in lower case', () => {
    expect(config.general_settings.sso_admin_email_list).toEqual(['first@example.com'])
    expect(config.general_settings.self_registration.allowed_domains).toEqual(['example.com', 'sub.example.org'])
    expect(config.general_settings.platform_bootstrap_admin_email).toBe('admin@example.com')
  })
})

describe('values', () => {
  it.each([
    'simple-shuffle',
    'weighted',
    'priority-based-routing',
    'least-busy',
    'latency-based-routing',
    'cost-based-routing',
    'usage-based-routing',
    'rate-limit-aware',
    'tag-based-routing',
  ])('takes the strategy %s', (strategy) => {
    expect(loadConfig(`router_settings: {routing_strategy: ${strategy}}`, {}).router_settings.routing_strategy).toBe(
      strategy,
    )
  })

  it.each([...providers.keys()])('takes the provider %s', (kind) => {
    const yaml = `model_list: [{model_name: m, gateway_params: {model: ${kind}/x, api_base: 'https://api.example.com'}}]`
    expect(loadConfig(yaml, {}).model_list[0]?.gateway_params).toMatchObject({ provider: kind, upstream_model: 'x' })
  })

  it.each([
    'http://localhost:1',
    'http://127.0.0.1',
    'http://[::1]:8000',
    'http://10.0.0.1',
    'http://172.31.0.1',
    'http://192.168.1.1',
    'http://ollama:11434/v1',
    'http://llm.svc.cluster.local',
    'https://api.example.com/v1',
  ])('takes the address %s', (address) => {
    const yaml = `model_list: [{model_name: m, gateway_params: {model: echo/x, api_base: '${address}'}}]`
    expect(loadConfig(yaml, {}).model_list[0]?.gateway_params.api_base).toBe(address)
  })

  it('takes redis_degraded_mode for degraded_mode', () => {
    const { general_settings } = loadConfig('general_settings: {redis_degraded_mode: fail_closed}', {})
    expect(general_settings.degraded_mode).toBe('fail_closed')
    expect(general_settings).not.toHaveProperty('redis_degraded_mode')
  })

  it('takes a group or an alias on both sides of a chain', () => {
    const yaml = 'router_settings: {model_group_alias: {b: a}}\ngateway_settings: {fallbacks: [{b: [c]}, {c: [b]}]}\n'
    const entry = (name: string) => `  - {model_name: ${name}, gateway_params: {model: echo/x}}\n`
    expect(loadConfig(`${yaml}model_list:\n${entry('a')}${entry('c')}`, {}).gateway_settings.fallbacks).toHaveLength(2)
  })

  it('merges anchors, for what several deployments share', () => {
    const yaml = `
model_list:
  - model_name: a
    gateway_params: &shared { model: echo/a, timeout: 5 }
  - model_name: b
    gateway_params: { <<: *shared, model: echo/b }`
    expect(loadConfig(yaml, {}).model_list[1]?.gateway_params).toMatchObject({ model: 'echo/b', timeout: 5 })
  })
})

describe('the environment', () => {
  const env = {
    DATABASE_URL: 'postgres://db/one',
    REDIS_URL: 'redis://cache:6379',
    REDIS_TOKEN: 'token',
    GATEWAY_MASTER_KEY: 'master-0123456789',
    GATEWAY_SALT_KEY: 'salty-0123456789',
  }

  it('fills what the file leaves out', () => {
    const settings = loadConfig('', env).general_settings
    expect(open(settings.database_url)).toBe(env.DATABASE_URL)
    expect(open(settings.redis_url)).toBe(env.REDIS_URL)
    expect(open(settings.redis_token)).toBe(env.REDIS_TOKEN)
    expect(open(settings.master_key)).toBe(env.GATEWAY_MASTER_KEY)
    expect(open(settings.salt_key)).toBe(env.GATEWAY_SALT_KEY)
  })

  it('yields to the file, and counts for nothing when it is empty or not text', () => {
    const yaml = 'general_settings: {database_url: "postgres://file/two"}'
    expect(open(loadConfig(yaml, env).general_settings.database_url)).toBe('postgres://file/two')
    expect(loadConfig('', { DATABASE_URL: '', REDIS_URL: { fetch() {} } }).general_settings.redis_url).toBeUndefined()
  })
})

describe('the shipped file', () => {
  it('needs no environment and answers with echo', () => {
    const shipped = readFileSync(new URL('../../gateway.yaml', import.meta.url), 'utf8')
    expect(loadConfig(shipped, {}).model_list).toMatchObject([{ model_name: 'echo', deployment_id: 'echo-1' }])
  })

  it('has examples that work once their # is taken away', () => {
    const shipped = readFileSync(new URL('../../gateway.yaml', import.meta.url), 'utf8')
    const uncommented = shipped.replace(/^( +)# (?=[-a-z_ ]+:)/gm, '$1').replace(/^ *# Answers.*$/m, '')
    const env = {
      GATEWAY_MASTER_KEY: 'master-0123456789',
      DATABASE_URL: 'postgres://db/one',
      REDIS_URL: 'redis://cache',
      OPENAI_API_KEY: 'k',
      ANTHROPIC_API_KEY: 'k',
    }
    const config = loadConfig(uncommented, env)
    expect(config.model_list.map(({ model_name }) => model_name)).toEqual(['echo', 'gpt', 'claude', 'local'])
    expect(config.gateway_settings.fallbacks).toEqual([{ gpt: ['claude', 'local'] }])
    expect(config.router_settings.num_retries).toBe(2)
  })
})
