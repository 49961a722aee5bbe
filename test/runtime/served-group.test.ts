import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { configOf, startGateway, type TestGateway } from '../support/gateway.ts'
import { serverError } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const [first, second] = [`${run}-served-first`, `${run}-served-second`]
const ask = { messages: [{ role: 'user', content: 'Hello' }] }
let gateway: TestGateway

beforeAll(async () => {
  const settings = `gateway_settings: { fallbacks: [{ ${first}: [${second}] }] }`
  gateway = await startGateway(configOf(upstream.url, { [first]: [first], [second]: [second] }, settings))
})
afterAll(() => gateway.close())

it('a fallback that nobody was asked in has not served: header and ledger name who was asked', async () => {
  await upstream.script(second, [serverError()])
  await (await gateway.chat({ ...ask, model: second })).text()
  await upstream.script(first, [serverError()])
  const response = await gateway.chat({ ...ask, model: first })
  await response.text()
  await gateway.idle()
  expect(response.status).toBe(503)
  expect(response.headers.get('x-gateway-deployment')).toBe(first)
  expect(response.headers.get('x-gateway-model-group')).toBe(first)
  expect(gateway.records.findLast(({ topic }) => topic === 'ledger')?.entry).toMatchObject({
    model: first,
    deployment: first,
  })
})
