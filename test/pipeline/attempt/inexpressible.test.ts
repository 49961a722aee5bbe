import { describe, expect, inject, it } from 'vitest'
import { chatInit } from '../../support/gateway.ts'
import { json, serverError } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withGateway } from '../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const path = (name: string) => `/untold-${name}`

const gateway = withGateway(() => {
  const deployment = (group: string, name: string, model: string, priority: number) => `  - model_name: ${group}
    deployment_id: ${name}
    gateway_params: { model: ${model}, api_base: "${upstream.url}${path(name)}/v1", api_key: sk-canary }
    model_info: { priority: ${priority} }
`
  return `router_settings: { routing_strategy: priority-based-routing, cooldown_time: 0, num_retries: 1, retry_after: 0.01 }
gateway_settings: { fallbacks: [{ alone: [texts] }] }
model_list:
${deployment('vectors', 'texts-first', 'voyage/voyage-3.5', 0)}${deployment('vectors', 'any-behind', 'openai-compatible/e', 1)}${deployment('mixed', 'any-first', 'openai-compatible/e', 0)}${deployment('mixed', 'texts-behind', 'voyage/voyage-3.5', 1)}${deployment('texts', 'texts-only', 'voyage/voyage-3.5', 0)}${deployment('alone', 'any-only', 'openai-compatible/e', 0)}`
})

const embed = (model: string) =>
  gateway.fetch('/v1/embeddings', {
    ...chatInit({ model, input: [1, 2, 3] }),
    headers: { 'content-type': 'application/json', 'x-gateway-explain': '1' },
  })
const answered = json(200, { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 3, total_tokens: 3 } })

describe('a deployment whose provider cannot be told the request', () => {
  it('is passed over for one that can', async () => {
    await upstream.script(path('any-behind'), [answered])
    const response = await embed('vectors')
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-deployment')).toBe('any-behind')
    expect(response.headers.get('x-gateway-attempts')).toBe('1')
    expect(response.headers.get('x-gateway-explain')).toBe('any-behind;taken, texts-first;request')
    await gateway.idle()
    const [signals] = await gateway.store.signals(['texts-first'])
    expect(signals).toMatchObject({ active: 0, failures: 0 })
  })

  it('does not turn the failure of another into a mistake of the client', async () => {
    await upstream.script(path('any-first'), [serverError(), serverError()])
    const response = await embed('mixed')
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_failed' } })
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
  })

  it('does not so behind another group either', async () => {
    await upstream.script(path('any-only'), [serverError(), serverError()])
    expect((await embed('alone')).status).toBe(502)
  })

  it('refuses the request where there is no other', async () => {
    const response = await embed('texts')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: 'input' } })
    expect(response.headers.get('x-gateway-deployment')).toBe('texts-only')
  })
})
