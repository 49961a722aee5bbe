import { expect, inject, it } from 'vitest'
import { chatInit } from '../../support/gateway.ts'
import { withGateway } from '../../support/with-gateway.ts'

const upstream = inject('upstreamUrl')
const gateway = withGateway(
  () => `model_list:
  - model_name: m
    deployment_id: unreadable
    gateway_params: { model: openai/m, api_base: "${upstream}/unreadable/v1", api_key: sk-1 }
`,
)

/** Long enough to be parsed member by member, with brackets that fit and a word that is no JSON. */
const body = `{"model":"m","input":[{"type":"reasoning","summary":"${'a'.repeat(140_000)}"},tru]}`

it('a conversation that turns out to be no JSON holds no place at a deployment', async () => {
  const { body: _, ...init } = chatInit({})
  const refused = await gateway.fetch('/v1/responses', { ...init, body })
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'invalid_json' } }])
  await gateway.idle()
  const [signals] = await gateway.store.signals(['unreadable'])
  expect(signals).toMatchObject({ active: 0, used: {} })
})
