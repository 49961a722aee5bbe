import { describe, expect, inject, it, vi } from 'vitest'
import { configOf } from '../../support/gateway.ts'
import { change, serverError, slowHeaders } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withGateway } from '../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const model = `late-failure-${process.pid}`

const gateway = withGateway(() => {
  const settings = 'router_settings:\n  stream_keep_alive: 0.1\n  num_retries: 1\n  retry_after: 0.01\n'
  return configOf(upstream.url, { [model]: [model] }, settings)
})

describe('a mistake of our own behind an answer that has begun', () => {
  it('is told to the client without its cause, and to the log with it', async () => {
    await upstream.script(model, [change(serverError(), slowHeaders({ ms: 300 }))])
    vi.spyOn(gateway.store, 'startAttempt').mockRejectedValue(new TypeError('something of ours'))
    const response = await gateway.chat({ model, messages: [{ role: 'user', content: 'Hello' }], stream: true })
    const text = await response.text()
    expect(text).toContain('internal_error')
    expect(text).not.toContain('something of ours')
    const logged = gateway.logs.filter(({ event }) => event === 'internal')
    expect(logged).toMatchObject([{ requestId: response.headers.get('x-request-id') }])
    expect(JSON.stringify(logged)).toContain('something of ours')
  })
})
