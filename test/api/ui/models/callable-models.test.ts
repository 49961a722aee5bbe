import { beforeAll, describe, expect, it } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { type SignedIn, signedIn } from '../../../support/people.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const gateway = withFullGateway(`
router_settings: { model_group_alias: { nickname: big }, cooldown_time: 60 }
model_list:
  - { model_name: big, gateway_params: { model: echo/a }, model_info: { input_cost_per_token: 0.000001, output_cost_per_token: 0.000004, max_input_tokens: 8000, access_groups: [paid], tags: [eu] } }
  - { model_name: big, gateway_params: { model: echo/b }, model_info: { input_cost_per_token: 0.000002, output_cost_per_token: 0.000004, max_input_tokens: 4000, owned_by: us } }
  - { model_name: small, gateway_params: { model: echo/c } }
  - { model_name: broken, gateway_params: { model: openai-compatible/x, api_base: 'http://127.0.0.1:9/v1' } }
  - { model_name: vectors, gateway_params: { model: voyage/voyage-3.5, api_key: k } }
`)
const master = adminApi(() => gateway)

interface Listed {
  readonly name: string
  readonly health: string
}

describe('the models that a person may call', () => {
  const names = ({ body }: { body: { data: Listed[] } }) => body.data.map(({ name }) => name)
  const mine = async (who: SignedIn, query = '') => names(await who.ask('GET', `/ui/api/callable-models${query}`))

  beforeAll(async () => {
    await master('POST', '/organizations', { organization_id: 'acme' })
    for (const team_id of ['red', 'blue']) await master('POST', '/teams', { team_id, organization_id: 'acme' })
    await master('PUT', '/teams/red/model-access', { models: ['big', 'vectors'] })
    await master('PUT', '/teams/blue/model-access', { models: ['small'] })
  })

  it('are told with what they cost, take and hold', async () => {
    const { status, body } = await master('GET', '/callable-models')
    expect(status).toBe(200)
    expect(names({ body })).toEqual(['big', 'broken', 'nickname', 'small', 'vectors'])
    expect(body.data[0]).toEqual({
      name: 'big',
      kind: 'model',
      stands_for: null,
      modes: ['chat', 'completion'],
      prices: {
        input_cost_per_token: { from: 0.000001, to: 0.000002 },
        output_cost_per_token: { from: 0.000004, to: 0.000004 },
      },
      priced: true,
      max_input_tokens: 4000,
      max_output_tokens: null,
      access_groups: ['paid'],
      tags: ['eu'],
      owned_by: 'us',
      health: 'healthy',
    })
    expect(body.data[2]).toMatchObject({ name: 'nickname', kind: 'alias', stands_for: 'big' })
    expect(body.data[3]).toMatchObject({ prices: {}, priced: false })
    expect(body.data[4]).toMatchObject({ modes: ['embedding', 'rerank'] })
  })

  it('are those of every team of the person, within organization and user', async () => {
    expect(await mine(await signedIn(gateway, { teams: { red: 'team_viewer' } }))).toEqual([
      'big',
      'nickname',
      'vectors',
    ])
    const both = await signedIn(gateway, { teams: { red: 'team_viewer', blue: 'team_developer' } })
    expect(await mine(both)).toEqual(['big', 'nickname', 'small', 'vectors'])
    await master('PUT', `/users/${both.userId}/model-access`, { models: ['small', 'broken'] })
    expect(await mine(both)).toEqual(['small'])
    const member = { organizations: { acme: 'org_member' }, teams: { blue: 'team_viewer' } }
    expect(await mine(await signedIn(gateway, member))).toEqual(['small'])
    const all = ['big', 'broken', 'nickname', 'small', 'vectors']
    expect(await mine(await signedIn(gateway, { organizations: { acme: 'org_admin' } }))).toEqual(all)
    expect(await mine(await signedIn(gateway, { role: 'platform_admin' }))).toEqual(all)
  })

  it('are narrowed to a key, searched, filtered and paged', async () => {
    const { body: key } = await master('POST', '/keys', { team_id: 'red' })
    await master('PUT', `/keys/${key.key_id}/model-access`, { models: ['vectors', 'small'] })
    const admin = await signedIn(gateway, { role: 'platform_admin' })
    expect(await mine(admin, `?key_id=${key.key_id}`)).toEqual(['vectors'])
    expect(await mine(admin, '?search=B')).toEqual(['big', 'broken'])
    expect(await mine(admin, '?mode=rerank')).toEqual(['broken', 'vectors'])
    const first = await admin.ask('GET', '/ui/api/callable-models?limit=2')
    expect(first.body.next_cursor).toBe('broken')
    expect(await mine(admin, '?limit=2&cursor=broken')).toEqual(['nickname', 'small'])
    await master('POST', `/keys/${key.key_id}/revoke`, {})
    expect(await mine(admin, `?key_id=${key.key_id}`)).toEqual([])
  })

  it('say how they are, and so does the health of their deployments to a session', async () => {
    expect((await gateway.chat({ model: 'broken', messages: [{ role: 'user', content: 'Hi' }] })).status).toBe(502)
    await gateway.idle()
    const { body } = await master('GET', '/callable-models?search=broken')
    expect(body.data).toMatchObject([{ name: 'broken', health: 'unavailable', priced: false }])
    const red = await signedIn(gateway, { teams: { red: 'team_viewer' } })
    const health = await red.ask('GET', '/health/deployments')
    expect(health.status).toBe(200)
    expect(health.body.deployments.map((one: { deployment_id: string }) => one.deployment_id).sort()).toEqual([
      'big-1',
      'big-2',
      'vectors-1',
    ])
    expect((await red.ask('GET', '/health/fallback-events')).body).toEqual({ events: [] })
  })
})
