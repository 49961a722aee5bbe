import { expect, inject, it } from 'vitest'
import { adminApi } from '../../support/admin-api.ts'
import { configuration, deployment } from '../../support/configuration.ts'
import { chatInit } from '../../support/gateway.ts'
import { answer, cutAfter } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const id = `routed-rescue-${process.pid}`
const gateway = withFullGateway(
  configuration({
    router_settings: { cooldown_time: 0 },
    gateway_settings: { fallbacks: [{ group: ['spare'] }] },
    model_list: [
      deployment(upstream.url, 'group', id, { supports_assistant_prefix: true }),
      // Hidden by the route group of its name.
      deployment(upstream.url, 'spare', `${id}-hidden`),
    ],
  }),
)
const admin = adminApi(() => gateway)

it('a deployment that broke off twice is not asked again under the name of another group', async () => {
  const { status } = await admin('POST', '/route-groups', { name: 'spare', members: [{ deployment_id: id }] })
  expect(status).toBe(201)
  await upstream.script(id, [answer({ text: 'one two three four five six' }, cutAfter({ frames: 4 }))])
  const messages = [{ role: 'user', content: 'Count.' }]
  const response = await gateway.fetch('/v1/chat/completions', chatInit({ model: 'group', messages, stream: true }))
  expect(await response.text()).toContain('"error"')
  expect(await upstream.calls(id)).toHaveLength(2)
})
