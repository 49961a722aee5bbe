import { afterAll, describe, expect, inject, it } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { startFullGateway } from '../../../support/full-gateway.node.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { startUpstream, type Upstream } from '../../../support/scripted-upstream.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl)('actions on deployments', () => {
  let upstream: Upstream
  let yaml = ''
  const gateway = withFullGateway(async () => {
    upstream = await startUpstream()
    const far = (name: string) =>
      `{ model_name: pool, deployment_id: ${name}, gateway_params: { model: openai/${name}, api_key: x, api_base: '${upstream.url}/v1' } }`
    yaml = `
general_settings: { database_url: '${await preparedDatabase(postgresUrl as string)}' }
router_settings: { cooldown_time: 600 }
gateway_settings: { fallbacks: [{ pool: [spare] }] }
model_list:
  - ${far('east')}
  - ${far('west')}
  - { model_name: spare, gateway_params: { model: echo/spare } }
  - { model_name: alone, gateway_params: { model: echo/alone } }`
    return yaml
  })
  afterAll(() => upstream.close())
  const ask = adminApi(() => gateway)
  const act = (name: string, action: string) => ask('POST', `/models/${name}/${action}`)
  const chat = (model: string) => gateway.chat({ model, messages: [{ role: 'user', content: 'hi' }] })
  const servedBy = async (model: string) => (await chat(model)).headers.get('x-gateway-deployment')
  const stateOf = async (name: string) => {
    const { deployments } = await (await gateway.fetch('/health/deployments')).json()
    return deployments.find((one: { deployment_id: string }) => one.deployment_id === name).state
  }

  it('drain one: no new call goes there, in other processes and after a restart too, until it is resumed', async () => {
    expect((await act('east', 'drain')).body).toMatchObject({ deployment_id: 'east', state: 'drained' })
    expect((await act('east', 'drain')).status).toBe(200)
    for (let call = 0; call < 12; call++) expect(await servedBy('pool')).toBe('west')
    const other = await startFullGateway(yaml)
    try {
      for (let call = 0; call < 6; call++) {
        const { headers } = await other.chat({ model: 'pool', messages: [{ role: 'user', content: 'hi' }] })
        expect(headers.get('x-gateway-deployment')).toBe('west')
      }
      // Told by the process that did not do it, too.
      expect((await act('east', 'resume')).body.state).toBe('healthy')
      const deadline = Date.now() + 15_000
      let seen = false
      while (!seen && Date.now() < deadline) {
        const { headers } = await other.chat({ model: 'pool', messages: [{ role: 'user', content: 'hi' }] })
        seen = headers.get('x-gateway-deployment') === 'east'
      }
      expect(seen).toBe(true)
    } finally {
      await other.close()
    }
  })

  it('drain all of a group: its calls go to the fallbacks, and without any they are refused in words', async () => {
    for (const name of ['east', 'west', 'alone-1']) await act(name, 'drain')
    expect(await servedBy('pool')).toBe('spare-1')
    const refused = await chat('alone')
    expect([refused.status, (await refused.json()).error]).toMatchObject([
      503,
      { code: 'no_healthy_deployment', message: "Every deployment of 'alone' is drained. Retry later." },
    ])
    const explained = await gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-explain': '1' },
      body: JSON.stringify({ model: 'pool', messages: [{ role: 'user', content: 'hi' }] }),
    })
    expect(explained.headers.get('x-gateway-explain')).toContain('east;drained')
    for (const name of ['east', 'west', 'alone-1']) expect((await act(name, 'resume')).body.state).toBe('healthy')
    expect((await chat('alone')).status).toBe(200)
  })

  it('check one: a dead one is cooled, and one that is well again is back', async () => {
    upstream.script('west', [{ say: { kind: 'raw', status: 500, headers: {}, pieces: ['{}'] }, changes: [] }])
    const dead = (await act('west', 'check')).body
    expect(dead).toMatchObject({ state: 'cooling', check: { result: 'failed' } })
    expect(dead.check.error.message).toEqual(expect.any(String))
    expect(dead.check.total_ms).toBeGreaterThanOrEqual(0)
    upstream.script('west', [{ say: { kind: 'answer', options: {} }, changes: [] }])
    expect((await act('west', 'check')).body).toMatchObject({
      state: 'healthy',
      consecutive_failures: 0,
      check: { result: 'healthy', error: null },
    })
  })

  it('release one: its cooldown ends, and it was no success', async () => {
    upstream.script('east', [{ say: { kind: 'raw', status: 500, headers: {}, pieces: ['{}'] }, changes: [] }])
    const cooled = (await act('east', 'check')).body
    expect([cooled.state, await stateOf('east')]).toEqual(['cooling', 'cooling'])
    const released = (await act('east', 'release')).body
    expect(released).toMatchObject({ state: 'healthy', cooldown_until: null, consecutive_failures: 0 })
    expect(released.last_success_at).toBe(cooled.last_success_at)
    expect(released.last_error_at).toBe(cooled.last_error_at)
    upstream.script('east', [{ say: { kind: 'answer', options: {} }, changes: [] }])
  })

  it('are audited, and need a deployment', async () => {
    await act('east', 'release')
    for (;;) {
      const { data } = (await ask('GET', '/audit/events?resource_id=east&limit=200')).body
      const actions = new Set(data.map(({ action }: { action: string }) => action))
      if (['model.check', 'model.release', 'model.drain', 'model.resume'].every((one) => actions.has(one))) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect((await act('no-such', 'drain')).body.error.param).toBe('deployment_id')
  })
})
