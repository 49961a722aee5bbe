import { describe, expect, inject, it } from 'vitest'
import { adminApi } from '../../support/admin-api.ts'
import { configuration, deployment } from '../../support/configuration.ts'
import { chatInit } from '../../support/gateway.ts'
import { answer, slowHeaders } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const model = `answer-ahead-${process.pid}`

describe('a stream that waits for an identical call', () => {
  const gateway = withFullGateway(
    configuration({
      general_settings: { cache_enabled: true, cache_wait: 1 },
      router_settings: { stream_keep_alive: 0.2 },
      model_list: [deployment(upstream.url, 'group', model)],
    }),
  )
  const ask = adminApi(() => gateway)

  async function refusals(): Promise<number> {
    const page = await (await gateway.fetch('/metrics')).text()
    const lines = page.split('\n').filter((line) => line.startsWith('gateway_request_failures_total{'))
    return lines
      .filter((line) => line.includes('error_type="rate_limit_error"'))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }

  it('says in its stream that it is refused after all, and is counted as one refused call', async () => {
    await upstream.script(model, [answer({ text: 'slow' }, slowHeaders({ ms: 2500 }))])
    const { body: made } = await ask('POST', '/keys', { max_parallel_requests: 2 })
    const send = (seed: number) =>
      fetch(
        `${gateway.url}/v1/chat/completions`,
        chatInit(
          { model: 'group', messages: [{ role: 'user', content: 'Hello' }], stream: true, seed },
          { headers: { authorization: `Bearer ${made.key}` } },
        ),
      )
    const leading = send(1)
    await upstream.until(model, (calls) => calls.length === 1)
    const following = send(1).then(async (response) => ({ status: response.status, text: await response.text() }))
    await new Promise((resolve) => setTimeout(resolve, 100))
    // Takes the last place before the one that waits has to ask itself.
    const other = send(2)
    const { status, text } = await following
    expect(status).toBe(200)
    expect(text).toMatch(/^(: keep-alive\n\n)+data: \{"error":\{"message":"Rate limit exceeded for scope '/)
    expect(text).toMatch(/"code":"[a-z_]*parallel[a-z_]*"\}\}\n\n$/)
    expect(await refusals()).toBe(1)
    const answered = await Promise.all([leading, other].map(async (one) => (await one).text()))
    expect(answered.every((one) => one.endsWith('data: [DONE]\n\n'))).toBe(true)
    await gateway.idle()
    expect(await refusals()).toBe(1)
    expect((await upstream.calls(model)).length).toBe(2)
  })
})
