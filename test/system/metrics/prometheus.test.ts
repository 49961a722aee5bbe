import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PrometheusServer, startPrometheus } from '../../support/prometheus-server.node.ts'
import { withGateway } from '../../support/with-gateway.ts'

const TOKEN = 'token-of-the-metrics-5b1e'
const gateway = withGateway(`
general_settings: {metrics_token: ${TOKEN}}
gateway_settings:
  success_callback: [prometheus]
  callback_settings: {prometheus: {labels: [model, deployment, endpoint]}}
model_list:
  - {model_name: gpt, deployment_id: gpt-1, gateway_params: {model: echo/gpt}, model_info: {input_cost_per_token: 0.001, output_cost_per_token: 0}}
`)
const isThere = spawnSync('prometheus', ['--version']).status === 0
const asked = { model: 'gpt', messages: [{ role: 'user', content: 'one two' }] }
const page = async () => {
  const answered = await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
  return answered.text()
}

it('is on this machine, where nothing may be skipped', () => {
  expect(isThere || !process.env.CI).toBe(true)
})

describe.skipIf(!isThere)('Prometheus', () => {
  let prometheus: PrometheusServer
  beforeAll(async () => {
    prometheus = await startPrometheus(gateway.url, TOKEN)
  })
  afterAll(() => prometheus.close())

  it('scrapes the page, and answers what is asked of it', async () => {
    for (let call = 0; call < 3; call++) expect((await gateway.chat(asked)).status).toBe(200)
    expect((await gateway.chat({ ...asked, model: 'none' })).status).toBe(404)
    await gateway.idle()
    const three = await prometheus.until('sum(gateway_requests_total{status_code="200"})', ([sum]) => sum?.value === 3)
    expect(three).toHaveLength(1)
    expect(await prometheus.query('gateway_requests_total{status_code="200"}')).toEqual([
      {
        metric: expect.objectContaining({ model: 'gpt', deployment: 'gpt-1', endpoint: '/v1/chat/completions' }),
        value: 3,
      },
    ])
    const [counted] = await prometheus.query('gateway_requests_total{status_code="200"}')
    for (const left of ['key_id', 'team', 'provider']) expect(counted?.metric).not.toHaveProperty(left)
    expect(await prometheus.query('sum(gateway_request_failures_total)')).toMatchObject([{ value: 1 }])
    const [spent] = await prometheus.query('sum(gateway_spend_total)')
    expect(spent?.value).toBeGreaterThan(0)
    const [median] = await prometheus.query(
      'histogram_quantile(0.5, sum by (le) (gateway_request_total_latency_seconds_bucket))',
    )
    expect(median?.value).toBeGreaterThan(0)
    expect(median?.value).toBeLessThan(10)
    expect(await prometheus.query('sum(gateway_first_token_seconds_count)')).toMatchObject([{ value: 3 }])
    expect(await prometheus.query('gateway_deployment_state{deployment="gpt-1"}')).toMatchObject([{ value: 0 }])
    // The next calls are seen as growth.
    expect((await gateway.chat(asked)).status).toBe(200)
    await prometheus.until(
      'sum(increase(gateway_requests_total{status_code="200"}[1m]))',
      ([sum]) => (sum?.value ?? 0) > 0,
    )
    expect(await prometheus.target()).toMatchObject({ health: 'up', lastError: '' })
  })

  it('finds nothing to say against the page', async () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: await page() })
    expect([status, String(stdout), String(stderr)]).toEqual([0, '', ''])
  })
})
