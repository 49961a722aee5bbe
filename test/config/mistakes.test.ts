import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { accepted } from '../../src/config/accepted.ts'
import { ConfigError } from '../../src/config/config-error.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { strategies } from '../../src/routing/strategies/index.ts'
import { busyMs } from '../support/busy-ms.ts'

function linesOf(yaml: string, env: Record<string, unknown> = {}): string[] {
  try {
    loadConfig(yaml, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
  return []
}

const general = (settings: string) => `general_settings: {${settings}}`
const entry = (params: string, rest = '') => `model_list: [{model_name: m, gateway_params: {${params}}${rest}}]`
const P = 'model_list[0].gateway_params'
const HOW = 'make one with: openssl rand -hex 32'
const ADDRESS = 'must be an absolute address that begins with https://'
const models = 'model_list: [{model_name: gpt, gateway_params: {model: echo/a}}]'

describe('the text', () => {
  it.each<[string, string, string[]]>([
    ['a duplicated key', 'a: 1\nb: 2\na: 3', ['line 3, column 1: this key stands twice in one map; keep one of them']],
    ['a tab', 'a:\n\tb: 1', ['line 2, column 1: a tab indents this line; use spaces']],
    ['an open quote', 'a: "x', ['line 1, column 6: a character is missing, such as a closing quote or bracket']],
    ['wrong indentation', 'a:\n  b: 1\n c: 2', ['line 3, column 1: the indentation does not fit the lines above']],
    ['a tag', 'a: !!js/function x', ['line 1, column 4: tags (!) are not understood here']],
    ['a binary', 'a: !!binary aGk=', ['a: tags (!!) are not understood here; write plain text']],
    [
      'two documents',
      'a: 1\n---\nb: 1',
      ['line 2, column 1: the file holds more than one document; remove the --- line'],
    ],
    [
      'an alias of nothing',
      'a: *b',
      ['top level: an anchor, alias or merge key (<<) leads nowhere, in a circle, or to too many copies'],
    ],
    ['a circle', 'a: &a [*a, *a]', ['top level: the file holds too many values or nests too deeply']],
    [
      '__proto__',
      'general_settings: {__proto__: {x: 1}}',
      ['general_settings.__proto__: is not a known field; remove it'],
    ],
    [
      '__proto__ below any keys',
      entry('model: echo/x', ', model_info: {default_params: {__proto__: {x: 1}}}'),
      ['model_list[0].model_info.default_params.__proto__: is not a known field; remove it'],
    ],
    ['a list', '- 1', ['top level: must be a map of keys to values']],
    ['only text', 'hello', ['top level: must be a map of keys to values']],
    [
      'sections that are not maps',
      'general_settings: 1\nrouter_settings: [x]\ngateway_settings: x\nmodel_list: {a: 1}',
      [
        'general_settings: must be a map of keys to values',
        'router_settings: must be a map of keys to values',
        'gateway_settings: must be a map of keys to values',
        'model_list: must be a list',
      ],
    ],
    ['more than 4 MB', `a: "${'x'.repeat(4_000_001)}"`, ['top level: the file is larger than 4 MB']],
  ])('%s', (_, yaml, lines) => {
    expect(linesOf(yaml)).toEqual(lines)
  })

  it('refuses an alias bomb and deep nesting at once', () => {
    const busy = busyMs(() => {
      const bomb = Array.from({ length: 12 }, (_, n) => `a${n}: &a${n} [${Array(9).fill(n ? `*a${n - 1}` : 'x')}]`)
      expect(linesOf(bomb.join('\n'))[0]).toMatch(/^top level: an anchor, alias/)
      expect(linesOf('['.repeat(50_000))[0]).toMatch(/^line 1, column \d+: /)
      expect(linesOf('"'.repeat(100_000))[0]).toMatch(/^line 1, column \d+: /)
      expect(linesOf(`a: ${'['.repeat(100)}${']'.repeat(100)}`)).toEqual([
        'top level: the file holds too many values or nests too deeply',
      ])
    })
    expect(busy).toBeLessThan(2000)
  })
})

describe('one value', () => {
  it.each<[string, string, string[]]>([
    [
      'an unknown section',
      'genral_settings: {}',
      ["genral_settings: is not a known field; did you mean 'general_settings'?"],
    ],
    [
      'unknown keys',
      general('master_kye: x, zzzzzzzz: 1'),
      [
        "general_settings.master_kye: is not a known field; did you mean 'master_key'?",
        'general_settings.zzzzzzzz: is not a known field; remove it',
      ],
    ],
    ['an odd key', general('"a.b c": 1'), ['general_settings["a.b c"]: is not a known field; remove it']],
    ['a negative number', 'router_settings: {num_retries: -1}', ['router_settings.num_retries: must not be negative']],
    ['a time of nothing', 'router_settings: {timeout: 0}', ['router_settings.timeout: must be greater than 0']],
    ['a time too long', 'router_settings: {timeout: 1e9}', ['router_settings.timeout: must be at most 2147483']],
    ['a time without end', 'router_settings: {timeout: .inf}', ['router_settings.timeout: must be a number']],
    ['half a retry', 'router_settings: {num_retries: 0.5}', ['router_settings.num_retries: must be a whole number']],
    ['text for a number', 'router_settings: {timeout: "5"}', ['router_settings.timeout: must be a number']],
    ['text for a boolean', general('enable_sso: "yes"'), ['general_settings.enable_sso: must be true or false']],
    ['a number for text', entry('model: echo/x, api_key: 12345'), [`${P}.api_key: must be text; put it in quotes`]],
    ['empty text', entry('model: echo/x, api_key: ""'), [`${P}.api_key: must not be empty`]],
    [
      'a region that is another host',
      entry('model: vertex/x, region: evil.example/x, aws_region_name: "a b"'),
      [
        `${P}.region: must be the name of a region, of letters, digits and - alone`,
        `${P}.aws_region_name: must be the name of a region, of letters, digits and - alone`,
      ],
    ],
    [
      'an address with a query',
      entry('model: azure/x, api_base: "https://x.example/openai?api-version=2024-10-21"'),
      [`${P}.api_base: must not have a ? part, for a path is appended to it; use the field for a key or a version`],
    ],
    [
      'headers of several lines',
      entry('model: openai/x, organization: "a\\nb", project: "a\\nb", api_version: "a\\nb"'),
      ['project', 'organization', 'api_version'].map(
        (field) =>
          `${P}.${field}: must be one line of Latin-1 characters, without control characters; a placeholder such as sk-… has to be replaced`,
      ),
    ],
    ['an empty entry', 'model_list: [~]', ['model_list[0]: has no value; write one or remove the entry']],
    [
      'a strategy',
      'router_settings: {routing_strategy: least-bussy}',
      [
        `router_settings.routing_strategy: must be one of ${[...strategies.keys()].join(', ')}; did you mean 'least-busy'?`,
      ],
    ],
    [
      'the only choice',
      general('self_registration: {mode: sso_allowed_domains}'),
      ["general_settings.self_registration.mode: must be 'sso_allowed_domain'"],
    ],
    [
      'an e-mail address',
      general('sso_admin_email_list: [x]'),
      ['general_settings.sso_admin_email_list[0]: must be an e-mail address'],
    ],
    [
      'a proxy range',
      general('trusted_proxies: [10.0.0.0/33, proxy]'),
      [
        'general_settings.trusted_proxies[0]: must be an address or a range such as 10.0.0.0/8',
        'general_settings.trusted_proxies[1]: must be an address or a range such as 10.0.0.0/8',
      ],
    ],
    [
      'an origin',
      general('cors_origins: ["https://a.example/x"]'),
      ['general_settings.cors_origins[0]: must be * or an origin such as https://app.example.com, without a path'],
    ],
    [
      'a domain',
      general('self_registration: {allowed_domains: ["@x.com"]}'),
      ['general_settings.self_registration.allowed_domains[0]: must be a bare domain such as example.com'],
    ],
    [
      'a price',
      entry('model: echo/x', ', model_info: {input_cost_per_token: -1, cost_per_image: {a: b}}'),
      [
        'model_list[0].model_info.input_cost_per_token: must not be negative',
        'model_list[0].model_info.cost_per_image: must be a price of 0 or more, or a map of sizes such as 1024x1024 to prices',
      ],
    ],
    [
      'a multiplier',
      entry('model: echo/x', ', model_info: {price_multipliers: {priority: 2}, tool_costs: {web_search: -1}}'),
      [
        'model_list[0].model_info.price_multipliers.priority: must be <field>/<value>, such as service_tier/priority',
        'model_list[0].model_info.tool_costs.web_search: must not be negative',
      ],
    ],
    [
      'a header',
      entry('model: echo/x, headers: {"a b": x, Content-Length: "3", c: "d\\r\\ne"}'),
      [
        `${P}.headers["a b"]: is not a header name`,
        `${P}.headers.Content-Length: says how a request is sent, which the gateway decides; remove it`,
        `${P}.headers.c: must be one line of Latin-1 characters, without control characters; a placeholder such as sk-… has to be replaced`,
      ],
    ],
    [
      'a model name',
      'model_list: [{model_name: " m", gateway_params: {model: echo/x}}]',
      ['model_list[0].model_name: must be at most 256 characters, without control characters or spaces at its ends'],
    ],
    [
      'a tool server',
      'gateway_settings: {mcp_servers: [{server_key: a__b, base_url: "https://x.example"}]}',
      [
        'gateway_settings.mcp_servers[0].server_key: must be 1 to 40 letters, digits, - or _, without __, which divides it from the tool name, and not end in _',
      ],
    ],
  ])('%s', (_, yaml, lines) => {
    expect(linesOf(yaml)).toEqual(lines)
  })

  it.each<[string, string]>([
    ['ftp://x', ADDRESS],
    ['api.openai.com', ADDRESS],
    ['http://api.openai.com', 'must begin with https://; http:// is for loopback and private hosts'],
    ['http://172.32.0.1', 'must begin with https://; http:// is for loopback and private hosts'],
    ['http://169.254.169.254', 'must begin with https://; http:// is for loopback and private hosts'],
    ['http://127.0.0.1.example.com', 'must begin with https://; http:// is for loopback and private hosts'],
    ['https://u:p@x.com', 'must not hold a user name or password; use the field for credentials'],
    ['https://x.com/#a', 'must not have a # part'],
  ])('the address %s', (address, message) => {
    expect(linesOf(entry(`model: echo/x, api_base: "${address}"`))).toEqual([`${P}.api_base: ${message}`])
  })

  it.each<[string, string]>([
    ['sk-1234', 'is a well-known example'],
    ['changeme-changeme-changeme', 'is a well-known example'],
    ['your-master-key-goes-here', 'is a well-known example'],
    ['master_key', 'is a well-known example'],
    ['abc-def-ghi', 'is shorter than 16 characters'],
    ['aaaaaaaaaaaaaaaaaaaaaaaa', 'has too few different characters'],
    [' 0123456789abcdef', 'must be printable ASCII without spaces at its ends, so that it can travel in a header'],
  ])('the master or salt key %j', (key, reason) => {
    const yaml = general(`master_key: "${key}", salt_key: "${key}"`)
    expect(linesOf(yaml)).toEqual([
      `general_settings.master_key: ${reason}; ${HOW}`,
      `general_settings.salt_key: ${reason}; ${HOW}`,
    ])
  })

  it.each([
    ['database_url', 'postgres://u:pa%zz@h/d'],
    ['database_url', 'postgres://u%@h/d'],
    ['redis_url', 'redis://u:100%@h'],
  ])('the %s with a stray %%', (field, url) => {
    const line = `general_settings.${field}: holds a % that begins no escape; write %25 in its place`
    expect(linesOf(general(`${field}: "${url}"`))).toEqual([line])
    expect(linesOf(general(`${field}: "${url.replace('%', '%25')}"`))).toEqual([])
  })

  it.each([
    ['database_url', 'postgres://u:canary@word/x@h:5432/d'],
    ['database_url', 'postgres://u:12/x@h/d'],
    ['redis_url', 'redis://:canary@word/x@h:6379/0'],
  ])('the %s with a / in its password', (field, url) => {
    const line = `general_settings.${field}: has an @ behind its host; write %2F for each / of the password, %40 for each @`
    expect(linesOf(general(`${field}: "${url}"`))).toEqual([line])
  })

  it.each(['mysql://h/d', 'postgres:///d', 'localhost:5432', 'https://h/d'])('the database_url %s', (url) => {
    const line = 'general_settings.database_url: must have the form postgres://user:password@host:5432/database'
    expect(linesOf(general(`database_url: "${url}"`))).toEqual([line])
  })

  it('no socket of PostgreSQL, unless its folder is no path', () => {
    expect(loadConfig(`${general('database_url: "postgres:///d?host=/run/postgresql"')}\n${models}`, {})).toBeDefined()
    expect(linesOf(general('database_url: "postgres:///d?host=run"'))).toHaveLength(1)
  })

  it.each<[string, string]>([
    ['localhost:6379', 'must begin with redis://, rediss:// or https:// and name a host'],
    ['redis://', 'must begin with redis://, rediss:// or https:// and name a host'],
    ['redis://h/cache', 'must end with the host or with the number of a database, such as /0'],
    ['http://eu.upstash.io', 'must begin with https://; http:// is for loopback and private hosts'],
  ])('the redis_url %s', (url, message) => {
    expect(linesOf(general(`redis_token: t, redis_url: "${url}"`))).toEqual([`general_settings.redis_url: ${message}`])
  })
})

it('a prefix in object storage is folders, with or without a slash at its ends', () => {
  const storage = (prefix: string) =>
    general(
      `blob_storage: {endpoint: "https://s3.example", bucket: b, access_key_id: i, secret_access_key: s, prefix: "${prefix}"}`,
    )
  const { general_settings: settings } = loadConfig(`${storage('/team/batches/')}\n${models}`, {})
  expect(settings.blob_storage?.prefix).toBe('team/batches')
  for (const prefix of ['a b', 'a//b', 'a/../b', '/', 'ä'])
    expect(linesOf(storage(prefix))).toEqual([
      'general_settings.blob_storage.prefix: must be folders such as team/batches, of letters from A to Z, digits, dots, underscores and hyphens',
    ])
})

describe('a deployment', () => {
  it.each<[string, string, string[]]>([
    [
      'without a name',
      'model_list: [{gateway_params: {model: echo/x}}]',
      ['model_list[0].model_name: is required; add it'],
    ],
    ['without parameters', 'model_list: [{model_name: m}]', ['model_list[0].gateway_params: is required; add it']],
    ['without a model', entry('provider: openai'), [`${P}.model: is required; add it`]],
    [
      'without a provider',
      entry('model: gpt-5'),
      [`${P}.model: must have the form <provider>/<model> with a known provider, such as openai/gpt-6-luna`],
    ],
    [
      'of an unknown provider',
      entry('model: antropic/x'),
      [`${P}.model: must have the form <provider>/<model> with a known provider; did you mean 'anthropic'?`],
    ],
    ['without a model behind the slash', entry('model: openai/'), [`${P}.model: names no model behind the slash`]],
    [
      'of a kind of request that its provider does not take',
      entry('model: voyage/x', ', model_info: {mode: chat}'),
      ['model_list[0].model_info.mode: is no kind of request that voyage takes; choose one of embedding, rerank'],
    ],
    ['of completions by chat', entry('model: anthropic/x', ', model_info: {mode: completion}'), []],
    ['of azure without an address', entry('model: azure/x'), [`${P}.api_base: is required for azure; add its address`]],
    [
      'of any base URL without one',
      entry('model: openai-compatible/x'),
      [`${P}.api_base: is required for openai-compatible; add its address`],
    ],
    [
      'with half an AWS key',
      entry('model: bedrock/x, aws_access_key_id: a'),
      [`${P}.aws_secret_access_key: is required beside the other half of the AWS key`],
    ],
    [
      'with the id of another',
      'model_list: [{model_name: m, gateway_params: {model: echo/x}}, {model_name: n, deployment_id: m-1, gateway_params: {model: echo/x}}]',
      ['model_list[1].deployment_id: is the same as that of model_list[0]; give each deployment its own'],
    ],
  ])('%s', (_, yaml, lines) => {
    expect(linesOf(yaml)).toEqual(lines)
  })
})

describe('keys that belong together', () => {
  const g = 'general_settings'
  it.each<[string, string, string[]]>([
    [
      'e-mail without addresses',
      general('email_provider: log'),
      [`${g}.email_base_url: is required for email_provider log; add it`],
    ],
    [
      'smtp without a host',
      general('email_provider: smtp, email_base_url: "https://x.example", email_from: a@b.c'),
      [`${g}.email_smtp_host: is required for email_provider smtp; add it`],
    ],
    [
      'resend without a key',
      general('email_provider: resend, email_base_url: "https://x.example", email_from: a@b.c'),
      [`${g}.email_api_key: is required for email_provider resend; add it`],
    ],
    [
      'a relative e-mail address',
      general('email_base_url: /x'),
      [`${g}.email_base_url: must be an absolute http:// or https:// address`],
    ],
    [
      'sign-on without its fields',
      general('enable_sso: true'),
      [
        `${g}.sso_provider: is required while enable_sso is true; add it`,
        `${g}.sso_client_id: is required while enable_sso is true; add it`,
        `${g}.sso_client_secret: is required while enable_sso is true; add it`,
        `${g}.sso_redirect_uri: is required while enable_sso is true; add it`,
      ],
    ],
    [
      'a provider without its addresses',
      general(
        'enable_sso: true, sso_provider: okta, sso_client_id: a, sso_client_secret: b, sso_redirect_uri: "https://g.example/callback"',
      ),
      [
        `${g}.sso_redirect_uri: must have the path /auth/callback`,
        `${g}.sso_authorize_url: is required for sso_provider okta without sso_issuer; add it`,
        `${g}.sso_token_url: is required for sso_provider okta without sso_issuer; add it`,
        `${g}.sso_userinfo_url: is required for sso_provider okta without sso_issuer; add it`,
      ],
    ],
    [
      'codes that travel in the open',
      general('sso_redirect_uri: "http://gateway.internal/auth/callback"'),
      [
        `${g}.sso_redirect_uri: must begin with https://: the codes that people bring back open sessions; http:// is for loopback`,
      ],
    ],
    [
      'an unknown kind of provider',
      general('sso_provider: gitlab'),
      [`${g}.sso_provider: must be one of microsoft, google, okta, oidc`],
    ],
    [
      'domains that are none',
      general('self_registration: {allowed_domains: ["@example.com", "example", "a b.example", "example.com/x"]}'),
      [0, 1, 2, 3].map(
        (at) => `${g}.self_registration.allowed_domains[${at}]: must be a bare domain such as example.com`,
      ),
    ],
    [
      'self-registration without sign-on',
      general('self_registration: {enabled: true}'),
      [
        `${g}.self_registration.allowed_domains: needs at least one domain while self-registration is enabled`,
        `${g}.self_registration.default_org.id: is required while self-registration is enabled; name the organization`,
        `${g}.self_registration.default_team.id: is required while self-registration is enabled; name the team`,
        `${g}.enable_sso: must be true while self_registration is enabled`,
      ],
    ],
    [
      'half an admin',
      general('platform_bootstrap_admin_email: a@b.co'),
      [`${g}.platform_bootstrap_admin_password: is required beside platform_bootstrap_admin_email; add it`],
    ],
    [
      'a store over http without a token',
      general('redis_url: "https://eu.upstash.io"'),
      [`${g}.redis_token: is required for a redis_url over http; add it, or set REDIS_TOKEN`],
    ],
    [
      'two modes',
      general('degraded_mode: fail_open, redis_degraded_mode: fail_closed'),
      [`${g}.redis_degraded_mode: contradicts degraded_mode; keep one of them`],
    ],
    [
      'one key for two purposes',
      general('master_key: 0123456789abcdefg, salt_key: 0123456789abcdefg'),
      [`${g}.salt_key: must differ from master_key`],
    ],
    [
      'a next salt key that hashes otherwise',
      general('salt_key: 0123456789abcdefg, salt_key_next: 0123456789abcdefh'),
      [
        `${g}.salt_key_next: hashes keys in another way than salt_key does; make the new one with: model-gateway salt-key`,
      ],
    ],
    [
      'a former salt key alone',
      general('salt_key_previous: 0123456789abcdefg'),
      [`${g}.salt_key_previous: needs a salt_key beside it, another one`],
    ],
    [
      'callbacks without settings',
      'gateway_settings: {success_callback: [s3, langfuse, otel]}',
      [
        'gateway_settings.callback_settings.s3.bucket: is required while success_callback lists s3; add it',
        'gateway_settings.callback_settings.langfuse.public_key: is required while success_callback lists langfuse; add it',
        'gateway_settings.callback_settings.langfuse.secret_key: is required while success_callback lists langfuse; add it',
      ],
    ],
    [
      'tool servers',
      'gateway_settings: {mcp_servers: [{server_key: a, base_url: "https://x.example", auth_mode: bearer}, {server_key: a, base_url: "https://x.example", auth_mode: header_map}]}',
      [
        'gateway_settings.mcp_servers[0].auth_token: is required for auth_mode bearer; add it',
        'gateway_settings.mcp_servers[1].auth_headers: is required for auth_mode header_map; add it',
        'gateway_settings.mcp_servers[1].server_key: is the same as that of entry 0; give each server its own',
      ],
    ],
    [
      'chains to nowhere',
      `gateway_settings: {fallbacks: [{gtp: [gpt]}, {gpt: [gpt, other]}, {gpt: [gpt5]}]}\n${models}`,
      [
        "gateway_settings.fallbacks[0].gtp: names no model group of model_list; did you mean 'gpt'?",
        'gateway_settings.fallbacks[1].gpt[0]: falls back to itself; remove it',
        'gateway_settings.fallbacks[1].gpt[1]: names no model group of model_list',
        'gateway_settings.fallbacks[2].gpt: has a chain already; put its groups into one list',
        "gateway_settings.fallbacks[2].gpt[0]: names no model group of model_list; did you mean 'gpt'?",
      ],
    ],
    [
      'an empty chain',
      `gateway_settings: {content_policy_fallbacks: [{gpt: []}]}\n${models}`,
      ['gateway_settings.content_policy_fallbacks[0].gpt: must not be empty'],
    ],
    [
      'aliases',
      `router_settings: {model_group_alias: {gpt: gpt, a: b, c: a}}\n${models}`,
      [
        'router_settings.model_group_alias.gpt: hides the model group of the same name; choose another alias',
        'router_settings.model_group_alias.a: names no model group of model_list',
        'router_settings.model_group_alias.c: names no model group of model_list',
      ],
    ],
  ])('%s', (_, yaml, lines) => {
    expect(linesOf(yaml)).toEqual(lines)
  })

  it('lets a configured database bring the groups that the file lacks, but for what is nearly one of them', () => {
    const stored = 'general_settings: {database_url: "postgres://db.example/gateway"}\n'
    const chains = 'gateway_settings: {fallbacks: [{pool: [gpt, other]}, {gpt: [GPT, pool]}]}\n'
    const alias = 'router_settings: {model_group_alias: {a: pool, b: a}}\n'
    expect(linesOf(stored + chains + alias + models)).toEqual([
      'router_settings.model_group_alias.b: names no model group of model_list',
      "gateway_settings.fallbacks[1].gpt[0]: names no model group of model_list; did you mean 'gpt'?",
    ])
  })

  it('says nothing of chains while the deployment they may mean has no name', () => {
    const yaml =
      'gateway_settings: {fallbacks: [{a: [b]}]}\nmodel_list: [{model_nam: a, gateway_params: {model: echo/x}}]'
    expect(linesOf(yaml)).toEqual([
      'model_list[0].model_name: is required; add it',
      "model_list[0].model_nam: is not a known field; did you mean 'model_name'?",
    ])
  })
})

describe('the environment', () => {
  it.each<[string, Record<string, unknown>]>([
    ['a variable that is not set', {}],
    ['a variable that is empty', { KEY: '' }],
    ['a binding', { KEY: { get() {} } }],
  ])('%s', (_, env) => {
    expect(linesOf(entry('model: echo/x, api_key: os.environ/KEY, timeout: os.environ/KEY'), env)).toEqual([
      `${P}.api_key: the environment variable KEY is not set; set it, or remove this key`,
      `${P}.timeout: the environment variable KEY is not set; set it, or remove this key`,
    ])
  })

  it('a name that is none, and names that every object has', () => {
    expect(linesOf(entry('model: echo/x, api_key: os.environ/A-B, api_version: os.environ/__proto__'))).toEqual([
      `${P}.api_key: must have the form os.environ/NAME`,
      `${P}.api_version: the environment variable __proto__ is not set; set it, or remove this key`,
    ])
  })

  it('a key that no header can carry, as files of keys end in a line', () => {
    const line =
      'must be one line of Latin-1 characters, without control characters; a placeholder such as sk-… has to be replaced (it comes from the environment variable KEY)'
    expect(linesOf(entry('model: openai/x, api_key: os.environ/KEY'), { KEY: 'sk-canary\n' })).toEqual([
      `${P}.api_key: ${line}`,
    ])
    expect(linesOf(general('redis_token: os.environ/KEY'), { KEY: 'canary\r\n' })).toEqual([
      `general_settings.redis_token: ${line}`,
    ])
    // A key file is no header's.
    const keyFile = { KEY: '{\n  "type": "service_account"\n}\n' }
    expect(linesOf(entry('model: vertex/gemini-2.5-pro, api_key: os.environ/KEY'), keyFile)).toEqual([])
  })

  it('a variable with the wrong kind of text names the variable, never its text', () => {
    const env = { N: 'canary', GATEWAY_MASTER_KEY: 'short-canary', DATABASE_URL: 'canary://x' }
    expect(linesOf(entry('model: echo/x, timeout: os.environ/N'), env)).toEqual([
      `general_settings.master_key: is shorter than 16 characters; ${HOW} (it comes from the environment variable GATEWAY_MASTER_KEY)`,
      'general_settings.database_url: must have the form postgres://user:password@host:5432/database (it comes from the environment variable DATABASE_URL)',
      `${P}.timeout: must be a number (it comes from the environment variable N)`,
    ])
  })
})

it('a moment in a request is told how it is written', () => {
  const schema = z.object({ expires_at: z.iso.datetime({ offset: true }) })
  expect(() => accepted(schema, { expires_at: '2031-01-31' })).toThrow(
    expect.objectContaining({ message: expect.stringContaining('must be a time such as 2031-01-31T00:00:00Z') }),
  )
})

it.each([
  [{}, 'email: is required; add it'],
  [{ email: 'a@b.test' }, 'password: is required; add it'],
  [{ master_key: '' }, 'master_key: must not be empty'],
  [{ email: 'a@b.test', password: 'x', code: '1' }, 'code: is not a known field; remove it'],
])('a request in one of two forms is told what is missing in the form that it has: %j', (given, told) => {
  const person = z.strictObject({ email: z.string(), password: z.string() })
  const schema = z.union([person, z.strictObject({ master_key: z.string().min(1) })])
  expect(() => accepted(schema, given)).toThrow(expect.objectContaining({ message: told }))
})

it('tells everything at once, each with its place', () => {
  const yaml = `
general_settings: { master_key: os.environ/NONE, salt_key: changeme, email_provider: log, colour: red }
router_settings: { timeout: soon }
model_list:
  - { model_name: a, gateway_params: { model: nope/x } }
  - { model_name: a, deployment_id: a-1, gateway_params: { model: echo/x, api_kee: y } }
gateway_settings: { fallbacks: [{ a: [z] }] }`
  expect(linesOf(yaml).map((line) => line.slice(0, line.indexOf(':')))).toEqual([
    'general_settings.master_key',
    'general_settings.salt_key',
    'general_settings.colour',
    'general_settings.email_base_url',
    'router_settings.timeout',
    'model_list[0].gateway_params.model',
    'model_list[1].gateway_params.api_kee',
    'model_list[1].deployment_id',
    'gateway_settings.fallbacks[0].a[0]',
  ])
})
