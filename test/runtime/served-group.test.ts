import { expect, inject, it } from 'vitest'
import { configOf } from '../support/gateway.ts'
import { contextWindowExceeded, serverError } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const [first, second, third] = [`${run}-served-first`, `${run}-served-second`, `${run}-served-third`]
const ask = { messages: [{ role: 'user', content: 'Hello' }] }

const gateway = withGateway(() => {
  const chains = `fallbacks: [{ ${first}: [${second}] }], context_window_fallbacks: [{ ${third}: [${second}] }]`
  const groups = { [first]: [first], [second]: [second], [third]: [third] }
  return configOf(upstream.url, groups, `gateway_settings: { ${chains} }`)
})

it('a fallback that nobody was asked in has not served: header and ledger name who was asked', async () => {
  await upstream.script(second, [serverError()])
  await (await gateway.chat({ ...ask, model: second })).text()
  await upstream.script(first, [serverError()])
  const response = await gateway.chat({ ...ask, model: first })
  await response.text()
  await gateway.idle()
  expect(response.status).toBe(502)
  expect(response.headers.get('x-gateway-deployment')).toBe(first)
  expect(response.headers.get('x-gateway-model-group')).toBe(first)
  expect(gateway.records.findLast(({ topic }) => topic === 'ledger')?.entry).toMatchObject({
    model: first,
    deployment: first,
  })
})

it('a fallback that nobody was asked in does not hide what the provider said', async () => {
  await upstream.script(second, [serverError()])
  await (await gateway.chat({ ...ask, model: second })).text()
  await upstream.script(third, [contextWindowExceeded()])
  const response = await gateway.chat({ ...ask, model: third })
  expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'context_length_exceeded' } }])
})
