import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { serverError } from '../../../support/upstream/index.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')
const upstream = upstreamClient(inject('upstreamUrl'))

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

describe.skipIf(!postgresUrl || !redisUrl)('route groups', () => {
  let one: FullGateway
  let other: FullGateway

  beforeAll(async () => {
    const yaml = [
      `general_settings: { database_url: '${await preparedDatabase(postgresUrl)}', redis_url: '${redisUrl}' }`,
      'router_settings: { routing_strategy: priority-based-routing, model_group_alias: { nickname: big } }',
      'gateway_settings: { fallbacks: [{ failing: [spare] }] }',
      'model_list:',
      '  - { model_name: big, gateway_params: { model: echo/big } }',
      '  - { model_name: big, gateway_params: { model: echo/big } }',
      `  - { model_name: failing, gateway_params: { model: openai-compatible/groups-failing, api_base: '${upstream.url}/v1' } }`,
      '  - { model_name: small, gateway_params: { model: echo/small }, model_info: { priority: 9 } }',
    ].join('\n')
    ;[one, other] = await Promise.all([startFullGateway(yaml), startFullGateway(yaml)])
  })
  afterAll(async () => {
    await Promise.all([one?.close(), other?.close()])
  })

  async function ask(method: string, path: string, body?: unknown, gateway = one): Promise<Answer> {
    const response = await gateway.fetch(`/ui/api/route-groups${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, body: await response.json() }
  }

  /** Who answered a call, or its status. */
  async function answeredBy(model: string, gateway = one): Promise<string> {
    const response = await gateway.chat({ model, messages: [{ role: 'user', content: 'Hello' }] })
    await response.text()
    return response.headers.get('x-gateway-deployment') ?? String(response.status)
  }

  async function names(gateway = one): Promise<string[]> {
    const { data } = (await (await gateway.fetch('/v1/models')).json()) as { data: { id: string }[] }
    return data.map(({ id }) => id)
  }

  it('are called by their name like a model, and listed like one', async () => {
    expect(await answeredBy('pool')).toBe('404')
    const members = [{ deployment_id: 'big-2' }, { model_name: 'small', priority: 1 }]
    const made = await ask('POST', '', { name: 'pool', members })
    expect(made).toMatchObject({ status: 201, body: { name: 'pool', enabled: true, version: 1 } })
    expect(await answeredBy('pool')).toBe('big-2')
    expect(await names()).toEqual(['big', 'failing', 'nickname', 'pool', 'small'])
    expect((await ask('GET', '/pool', undefined, other)).body).toEqual(made.body)
  })

  it("a member's priority and weight stand for those of its deployment, in this group alone", async () => {
    await ask('POST', '', {
      name: 'turned',
      members: [
        { model_name: 'small', priority: 0 },
        { model_name: 'big', priority: 5 },
      ],
    })
    for (let turn = 0; turn < 4; turn++) expect(await answeredBy('turned')).toBe('small-1')
    expect(await answeredBy('small')).toBe('small-1')
    const health = await (await one.fetch('/health/deployments?model=turned')).json()
    expect(health).toMatchObject({ total_count: 3 })
    expect(await (await one.fetch('/health/deployments')).json()).toMatchObject({ total_count: 4 })
  })

  it('a member that is not enabled is left out; one named by its id goes by that', async () => {
    const members = [{ model_name: 'big' }, { deployment_id: 'big-1', enabled: false }]
    await ask('POST', '', { name: 'half', members })
    for (let turn = 0; turn < 6; turn++) expect(await answeredBy('half')).toBe('big-2')
  })

  it('hide a model of the same name, until they are disabled or removed', async () => {
    const group = { name: 'big', members: [{ model_name: 'small' }] }
    await ask('POST', '', group)
    expect([await answeredBy('big'), await answeredBy('nickname')]).toEqual(['small-1', 'small-1'])
    expect(await ask('PUT', '/big', { ...group, enabled: false })).toMatchObject({ status: 200, body: { version: 2 } })
    expect(await answeredBy('big')).toMatch(/^big-/)
    await ask('PUT', '/big', group)
    expect(await answeredBy('big')).toBe('small-1')
    expect(await ask('DELETE', '/big')).toMatchObject({ status: 200 })
    expect(await answeredBy('big')).toMatch(/^big-/)
  })

  it('are what an answer says has served, and not the model of the deployment that did', async () => {
    await ask('POST', '', { name: 'told', members: [{ model_name: 'small' }] })
    const response = await one.chat({ model: 'told', messages: [{ role: 'user', content: 'Hello' }] })
    await response.text()
    expect(response.headers.get('x-gateway-model-group')).toBe('told')
    await ask('DELETE', '/told')
  })

  it('disabled is absent, elsewhere within 5 s', async () => {
    await expect.poll(() => answeredBy('pool', other)).toBe('big-2')
    await ask('PUT', '/pool', { enabled: false, members: [{ deployment_id: 'big-2' }] })
    expect(await answeredBy('pool')).toBe('404')
    const deadline = Date.now() + 15_000
    while ((await answeredBy('pool', other)) !== '404') {
      expect(Date.now()).toBeLessThan(deadline)
      await wait(100)
    }
    expect(await names(other)).not.toContain('pool')
  })

  it('are fallen back to by chains of the file, as soon as they are there', async () => {
    await upstream.script('groups-failing', [serverError()])
    const attempt = async () => {
      const response = await one.chat({ model: 'failing', messages: [{ role: 'user', content: 'Hello' }] })
      await response.text()
      return [response.status, response.headers.get('x-gateway-deployment')]
    }
    expect((await attempt())[0]).toBe(502)
    await ask('POST', '', { name: 'spare', members: [{ model_name: 'small' }] })
    expect(await attempt()).toEqual([200, 'small-1'])
    await ask('DELETE', '/spare')
  })

  it('one whose members are all gone is absent', async () => {
    await ask('POST', '', { name: 'empty', members: [{ deployment_id: 'nobody' }] })
    expect(await answeredBy('empty')).toBe('404')
  })

  it('one of two writers at once is told', async () => {
    const { version, members } = (await ask('GET', '/half')).body
    const answers = await Promise.all([one, other].map((gateway) => ask('PUT', '/half', { members, version }, gateway)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('PATCH keeps what is left out, and replaces the list of members', async () => {
    const before = (await ask('GET', '/half')).body
    const members = [{ model_name: 'big' }, { deployment_id: 'big-2', weight: 3, priority: 4, enabled: false }]
    const patched = await ask('PATCH', '/half', { members })
    expect(patched).toMatchObject({ status: 200, body: { enabled: true, members, version: before.version + 1 } })
    expect(await answeredBy('half')).toBe('big-1')
    expect((await ask('PATCH', '/half', { enabled: false })).body).toMatchObject({ enabled: false, members })
    expect(await answeredBy('half')).toBe('404')
    expect((await ask('PATCH', '/half', { enabled: null })).body).toMatchObject({ enabled: true, members })
    expect(await ask('PATCH', '/half', { version: before.version })).toMatchObject({ status: 409 })
    expect(await ask('PATCH', '/half', { members: before.members, name: 'half' })).toMatchObject({ status: 200 })
    for (const [body, param] of [
      [{ name: 'other' }, 'name'],
      [{ members: null }, 'members'],
      [{ members: [{ model_name: 'big', weight: -1 }] }, 'members[0].weight'],
      [{ enabled: 'no' }, 'enabled'],
      [{ rank: 1 }, 'rank'],
    ] as const) {
      expect(await ask('PATCH', '/half', body)).toMatchObject({ status: 400, body: { error: { param } } })
    }
    expect(await ask('PATCH', '/nobody', { enabled: false })).toMatchObject({ status: 404 })
  })

  it('come in pages', async () => {
    const first = await ask('GET', '?limit=2')
    expect(first.body.data.map(({ name }: { name: string }) => name)).toEqual(['empty', 'half'])
    const rest = await ask('GET', `?cursor=${first.body.next_cursor}`)
    expect(rest.body.data.map(({ name }: { name: string }) => name)).toEqual(['pool', 'turned'])
    expect(rest.body.next_cursor).toBeNull()
    expect((await ask('GET', '?search=OOL')).body.data).toHaveLength(1)
  })

  it.each([
    ['no members', { name: 'x' }, 'members'],
    ['an empty list of them', { name: 'x', members: [] }, 'members'],
    ['a member of neither kind', { name: 'x', members: [{}] }, 'members[0].deployment_id'],
    [
      'a member of both kinds',
      { name: 'x', members: [{ deployment_id: 'a', model_name: 'b' }] },
      'members[0].deployment_id',
    ],
    ['an unknown field', { name: 'x', members: [{ model_name: 'b', wait: 1 }] }, 'members[0].wait'],
    ['an alias', { name: 'nickname', members: [{ model_name: 'small' }] }, 'name'],
  ])('%s is a 400 that names it', async (_, body, param) => {
    expect(await ask('POST', '', body)).toMatchObject({ status: 400, body: { error: { param } } })
  })

  it('an unknown one is a 404, a taken name a 409', async () => {
    for (const name of ['nobody', '%00', 'x'.repeat(300)]) {
      expect((await ask('GET', `/${name}`)).status).toBe(404)
      expect((await ask('DELETE', `/${name}`)).status).toBe(404)
      expect((await ask('PUT', `/${name}`, { members: [{ model_name: 'small' }] })).status).toBe(404)
    }
    expect((await ask('POST', '', { name: 'half', members: [{ model_name: 'small' }] })).status).toBe(409)
  })
})
