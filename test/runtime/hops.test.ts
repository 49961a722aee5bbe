import { describe, expect, inject, it } from 'vitest'
import { chatInit, configOf } from '../support/gateway.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const model = `hops-${run}`
const gateway = withGateway(() => configOf(upstream.url, { [model]: [model] }))

const body = { model, messages: [{ role: 'user', content: 'x' }] }
const through = (hops: string) =>
  gateway.fetch('/v1/chat/completions', chatInit(body, { headers: { 'x-gateway-hops': hops } }))

describe('a call', () => {
  it('tells whom it asks how many gateways it has come through', async () => {
    await gateway.chat(body)
    for (const hops of ['0', '1', '3', 'many', '-1']) expect((await through(hops)).status, hops).toBe(200)
    const sent = (await upstream.calls(model)).map(({ headers }) => headers['x-gateway-hops'])
    expect(sent).toEqual(['1', '1', '2', '4', '1', '1'])
  })

  it.each(['4', '5', '999999999'])('that has come through %s is refused, and asks nobody', async (hops) => {
    const before = (await upstream.calls(model)).length
    const response = await through(hops)
    expect(response.status).toBe(508)
    expect(await response.json()).toMatchObject({ error: { type: 'api_error', code: 'loop_detected' } })
    expect(await upstream.calls(model)).toHaveLength(before)
  })
})
