import { expect, it } from 'vitest'
import { MASTER_KEY } from '../support/gateway.ts'
import { withGateway } from '../support/with-gateway.ts'

const TOKEN = 'metrics-token-canary-55d0'
const gateway = withGateway(
  () => `
general_settings: { metrics_token: ${TOKEN} }
model_list:
  - { model_name: echo, gateway_params: { model: echo/echo } }
`,
)

const metrics = (authorization: string) => gateway.fetch('/metrics', { headers: { authorization } })

it('/metrics is served to whoever has its token', async () => {
  const response = await metrics(`Bearer ${TOKEN}`)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('# TYPE gateway_requests_total counter')
})

it.each([
  ['', 'missing_api_key'],
  ['Bearer ', 'missing_api_key'],
  [`Basic ${TOKEN}`, 'missing_api_key'],
  [`Bearer ${TOKEN}x`, 'invalid_api_key'],
  [`Bearer ${TOKEN.slice(0, -1)}`, 'invalid_api_key'],
  [`Bearer ${MASTER_KEY}`, 'invalid_api_key'],
])('and to nobody with %j', async (authorization, code) => {
  const response = await metrics(authorization)
  const text = await response.text()
  expect([response.status, JSON.parse(text).error.code]).toEqual([401, code])
  expect(text).not.toContain(TOKEN)
})

it('leaves health open', async () => {
  expect((await gateway.fetch('/health', { headers: { authorization: '' } })).status).toBe(200)
})
