import { describe, expect, inject, it } from 'vitest'
import { configJsonSchema } from '../../src/routing/configuration.ts'
import { configuration, deployment, echo } from '../support/configuration.ts'
import { MASTER_KEY } from '../support/gateway.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const messages = [{ role: 'user', content: 'Hello' }]

const gateway = withGateway(() => {
  const text = configuration({
    model_list: [
      deployment(
        upstream.url,
        'pair',
        'resources-a',
        { max_input_tokens: 9000, max_output_tokens: 500 },
        { api_key: 'sk-literal' },
      ),
      deployment(
        upstream.url,
        'pair',
        'resources-b',
        { max_input_tokens: 8000 },
        { api_key: 'os.environ/GATEWAY_MASTER_KEY' },
      ),
      echo('another', 'another-one'),
    ],
  })
  return text
})

describe('Public model entry (returned by GET /v1/models)', () => {
  it('object is the constant `list`, data has one entry per public model name, built from the runtime model registry', async () => {
    const list = (await (await gateway.fetch('/v1/models')).json()) as { object: string; data: { id: string }[] }
    expect(list.object).toBe('list')
    expect(list.data.map(({ id }) => id)).toEqual(['another', 'pair'])
  })

  it('an entry has id, object `model` and owned_by', async () => {
    const { data } = (await (await gateway.fetch('/v1/models')).json()) as { data: object[] }
    expect(data[0]).toEqual({
      id: 'another',
      object: 'model',
      owned_by: expect.any(String),
      created: expect.any(Number),
    })
    expect(data[1]).toMatchObject({ id: 'pair', context_length: 8000, max_completion_tokens: 500 })
  })
})

describe('Deployment (entry of model_list)', () => {
  it('entries that share one model_name form one routable group', async () => {
    const served = new Set<string | null>()
    for (let call = 0; call < 40; call++) {
      const response = await gateway.chat({ model: 'pair', messages })
      await response.arrayBuffer()
      expect(response.headers.get('x-gateway-model-group')).toBe('pair')
      served.add(response.headers.get('x-gateway-deployment'))
    }
    expect([...served].sort()).toEqual(['resources-a', 'resources-b'])
  })

  it('gateway_params.model has the form <provider>/<model>: the provider is asked for its own model', async () => {
    const [call] = await upstream.calls('resources-a')
    expect(JSON.parse(new TextDecoder().decode(call?.body)).model).toBe('resources-a')
  })

  it('gateway_params.api_key is a literal or os.environ/<VAR_NAME>', async () => {
    const [literal] = await upstream.calls('resources-a')
    const [reference] = await upstream.calls('resources-b')
    expect(literal?.headers.authorization).toBe('Bearer sk-literal')
    expect(reference?.headers.authorization).toBe(`Bearer ${MASTER_KEY}`)
  })
})

describe('Health report (GET /health)', () => {
  it('has liveliness, readiness.status, readiness.checks.redis and readiness.checks.database', async () => {
    expect(await (await gateway.fetch('/health')).json()).toEqual({
      liveliness: 'ok',
      readiness: { status: 'ok', checks: { redis: true, database: true } },
    })
  })
})

describe('Configuration keys', () => {
  const keys = {
    general_settings: `master_key salt_key database_url redis_url platform_bootstrap_admin_email
      platform_bootstrap_admin_password email_base_url embeddings_batch_enabled enable_sso sso_provider sso_client_id
      sso_client_secret sso_authorize_url sso_token_url sso_userinfo_url sso_redirect_uri sso_admin_email_list
      self_registration`,
    'general_settings.self_registration': `enabled mode allowed_domains require_email_verification default_org
      default_team default_user`,
    'general_settings.self_registration.default_org': 'id max_budget rpm_limit',
    'general_settings.self_registration.default_team': `id role self_service_keys_enabled
      self_service_max_keys_per_user self_service_budget_ceiling self_service_require_expiry
      self_service_max_expiry_days`,
    'general_settings.self_registration.default_user': 'max_budget rpm_limit',
    router_settings: `routing_strategy num_retries retry_after timeout cooldown_time allowed_fails
      enable_pre_call_checks model_group_alias`,
    gateway_settings: `fallbacks context_window_fallbacks content_policy_fallbacks success_callback callback_settings`,
    'gateway_settings.callback_settings.s3': 'bucket region prefix',
    'model_list[]': 'model_name deployment_id gateway_params model_info',
    'model_list[].gateway_params': 'provider model api_key',
    'model_list[].model_info': `weight priority tags rpm_limit tpm_limit image_pm_limit audio_seconds_pm_limit
      char_pm_limit rerank_units_pm_limit default_params`,
  }
  it.each(Object.entries(keys))('%s', (section, names) => {
    expect(Object.keys(propertiesOf(section))).toEqual(expect.arrayContaining(names.split(/\s+/)))
  })
})

interface Schema {
  readonly properties?: Record<string, Schema>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** The keys that the JSON Schema of the configuration file knows at a place. */
function propertiesOf(place: string): Record<string, Schema> {
  let schema: Schema = configJsonSchema()
  for (const step of place.split('.')) {
    schema = filled(schema).properties?.[step.replace('[]', '')] ?? {}
    if (step.endsWith('[]')) schema = filled(schema).items ?? {}
  }
  return filled(schema).properties ?? {}
}

/** The alternative that is not the empty one. */
function filled(schema: Schema): Schema {
  return schema.anyOf?.find(({ properties, items }) => properties ?? items) ?? schema
}
