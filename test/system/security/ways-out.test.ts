import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configuration, deployment } from '../../support/configuration.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { bodyOf } from '../../support/upstream/call.ts'
import { answer, raw } from '../../support/upstream/index.ts'

const body = { model: 'group', messages: [{ role: 'user', content: 'Hello' }] }

describe('a client cannot lead its call elsewhere', () => {
  let upstream: Upstream
  let evil: Upstream
  let gateway: TestGateway

  beforeAll(async () => {
    upstream = await startUpstream()
    evil = await startUpstream()
    const router_settings = { cooldown_time: 0 }
    const model_list = [deployment(upstream.url, 'group', 'ways-out', {}, { api_key: 'sk-provider' })]
    gateway = await startGateway(configuration({ router_settings, model_list }))
  })
  afterAll(async () => {
    await gateway?.close()
    await upstream?.close()
    await evil?.close()
  })

  const asked = () => {
    const call = upstream.calls('ways-out').at(-1)
    if (!call) throw new Error('the upstream was not asked')
    return call
  }

  it.each([
    ['api_base', 'URL'],
    ['base_url', 'URL'],
    ['api_key', 'sk-evil'],
    ['api_version', 'evil'],
    ['custom_llm_provider', 'anthropic'],
    ['provider', 'anthropic'],
    ['organization', 'evil'],
    ['extra_headers', { authorization: 'Bearer sk-evil', host: 'URL' }],
    ['extra_body', { api_base: 'URL' }],
    ['headers', { authorization: 'Bearer sk-evil' }],
    ['deployment_id', 'evil'],
    ['gateway_params', { api_base: 'URL', api_key: 'sk-evil' }],
    ['fallbacks', [{ model: 'group', api_base: 'URL' }]],
    ['proxy', 'URL'],
  ])('by %s in its body', async (field, value) => {
    upstream.script('ways-out', [answer()])
    const told = JSON.parse(JSON.stringify(value).replaceAll('URL', `${evil.url}/v1`))
    const response = await gateway.chat({ ...body, [field]: told })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-deployment')).toBe('ways-out')
    expect([asked().path, asked().headers.authorization]).toEqual(['/v1/chat/completions', 'Bearer sk-provider'])
    expect(bodyOf(asked())).toMatchObject({ model: 'ways-out' })
    expect(evil.calls('/')).toEqual([])
  })

  it.each([
    'x-api-base',
    'x-base-url',
    'openai-organization',
    'openai-project',
    'api-key',
    'x-goog-api-key',
    'x-forwarded-host',
  ])('by the header %s', async (name) => {
    upstream.script('ways-out', [answer()])
    const response = await gateway.chat(body, { headers: { [name]: evil.url } })
    expect(response.status).toBe(200)
    expect(asked().headers).not.toHaveProperty(name)
    expect(evil.calls('/')).toEqual([])
  })

  it.each([301, 302, 303, 307, 308])('by a redirect (%i) of its provider', async (status) => {
    upstream.script('ways-out', [raw(status, '', { location: `${evil.url}/v1/chat/completions` })])
    for (const stream of [false, true]) {
      const response = await gateway.chat({ ...body, stream })
      expect(response.status).toBe(502)
      expect(response.headers.has('location')).toBe(false)
      expect(await response.text()).not.toContain(evil.url)
    }
    expect(evil.calls('/')).toEqual([])
  })

  it('headers of a hop and cookies pass neither way', async () => {
    upstream.script('ways-out', [answer()])
    const headers = {
      cookie: 'a=b',
      'x-forwarded-for': '1.2.3.4',
      'x-real-ip': '1.2.3.4',
      forwarded: 'for=1.2.3.4',
      'proxy-authorization': 'Bearer x',
      'x-api-key': 'sk-client',
    }
    const response = await gateway.chat(body, { headers })
    await response.text()
    for (const name of Object.keys(headers)) expect(asked().headers).not.toHaveProperty(name)
    for (const name of ['set-cookie', 'server', 'cf-ray', 'openai-organization', 'openai-version']) {
      expect(response.headers.has(name), name).toBe(false)
    }
  })
})
