import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../support/configuration.ts'
import { answer, serverError } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const COOLDOWN_SECONDS = 1

const gateway = withGateway(() => {
  const text = configuration({
    router_settings: {
      routing_strategy: 'priority-based-routing',
      num_retries: 1,
      allowed_fails: 1,
      cooldown_time: COOLDOWN_SECONDS,
    },
    model_list: [
      deployment(upstream.url, 'group', 'states-first', { priority: 0 }),
      deployment(upstream.url, 'group', 'states-second', { priority: 1 }),
    ],
  })
  return text
})

/** One call, settled: who served it, and whether the first deployment was asked. */
async function call() {
  const before = (await upstream.calls('states-first')).length
  const response = await gateway.chat({ model: 'group', messages: [{ role: 'user', content: 'Hello' }] })
  await response.arrayBuffer()
  await gateway.idle()
  const asked = (await upstream.calls('states-first')).length - before
  return { status: response.status, served: response.headers.get('x-gateway-deployment'), firstAsked: asked }
}

describe('Deployment', () => {
  it('eligible, failures exceed `allowed_fails`: cooled down, removed from rotation for `cooldown_time`, then eligible', async () => {
    await upstream.script('states-first', [serverError(), serverError(), answer()])
    // One failure is allowed, the second is one too many.
    expect(await call()).toEqual({ status: 200, served: 'states-second', firstAsked: 1 })
    expect(await call()).toEqual({ status: 200, served: 'states-second', firstAsked: 1 })
    expect(await call()).toEqual({ status: 200, served: 'states-second', firstAsked: 0 })
    expect(await call()).toEqual({ status: 200, served: 'states-second', firstAsked: 0 })
    await wait(COOLDOWN_SECONDS * 1000)
    expect(await call()).toEqual({ status: 200, served: 'states-first', firstAsked: 1 })
    expect(await call()).toEqual({ status: 200, served: 'states-first', firstAsked: 1 })
  })
})
