import { describe, expect, it, vi } from 'vitest'
import { responsesIds } from '../../../src/api/dialects/responses-ids.ts'
import { parseLazily } from '../../../src/lib/json/lazy-json.ts'
import type { ModelRequest } from '../../../src/modes/mode.ts'
import { keepersOf } from '../../../src/pipeline/ids/keepers.ts'
import { knownIds, ownerText } from '../../../src/pipeline/ids/known-ids.ts'
import { namedIds } from '../../../src/pipeline/ids/named-ids.ts'
import { providers } from '../../../src/providers/index.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import type { Deployment } from '../../../src/routing/deployment.ts'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'
import { providerIdKey } from '../../../src/stores/kv/keys.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { registryOf } from '../../support/registry.ts'

const entry = (id: string, params: string, more = '{}') =>
  `  - { model_name: m, deployment_id: ${id}, gateway_params: { ${params} }, model_info: ${more} }\n`
const config = loadConfig(
  `model_list:\n${[
    entry('a', 'model: openai/gpt-5, api_key: sk-a'),
    entry('a-mini', 'model: openai/gpt-5-mini, api_key: sk-a'),
    entry('a-org', 'model: openai/gpt-5, api_key: sk-a, organization: org-2'),
    entry('a-elsewhere', 'model: openai/gpt-5, api_key: sk-a, api_base: "https://eu.api.openai.com/v1"'),
    entry('b', 'model: openai/gpt-5, api_key: sk-b'),
    entry('chat', 'model: openai-compatible/x, api_base: "https://x.example/v1"'),
  ].join('')}`,
  { GATEWAY_MASTER_KEY: MASTER_KEY, GATEWAY_SALT_KEY: 'salt-of-the-tests-0f4d1b7a93' },
)
const registry = registryOf(config, providers)
const [group] = registry.groups
const deployments = group?.deployments ?? []
const isNative = ({ id }: Deployment) => id !== 'chat'

async function keepers(input: unknown, owners: Readonly<Record<string, readonly [string, string]>>, more: object = {}) {
  const store = inProcessStore({ now: Date.now })
  for (const [id, [tenant, deployment]] of Object.entries(owners)) {
    await store.put(providerIdKey(id), ownerText({ name: tenant, organization: '' }, deployment), 60)
  }
  const getAll = vi.spyOn(store, 'getAll')
  const services = { store } as unknown as Parameters<typeof knownIds>[0]
  const endpoint = { ids: responsesIds } as unknown as Parameters<typeof knownIds>[1]
  const known = await knownIds(services, endpoint, { model: 'm', input, ...more } as ModelRequest)
  expect(getAll.mock.calls.length).toBeLessThanOrEqual(1)
  const asked = getAll.mock.calls[0]?.[0].length ?? 0
  const found = keepersOf(deployments, known ?? [], { tenant: 'mine', registry, isNative })
  return { able: found.deployments.map(({ id }) => id), first: found.first.map(({ id }) => id), asked }
}

const all = deployments.map(({ id }) => id)
const mine = (deployment: string) => ['mine', deployment] as const
const said = (id: string) => ({ type: 'message', id, role: 'assistant', content: [] })
const thought = (id: string, encrypted_content?: string) => ({ type: 'reasoning', id, summary: [], encrypted_content })

it.each([
  ['the same organization', JSON.stringify(['mine', 'a', 'acme']), 'mine'],
  ['an earlier build, which did not note it', JSON.stringify(['mine', 'a']), 'mine'],
  ['another organization', JSON.stringify(['mine', 'a', 'globex']), ''],
  ['none', JSON.stringify(['mine', 'a', '']), ''],
  ['another tenant', JSON.stringify(['theirs', 'a', 'acme']), 'theirs'],
])("what a tenant of %s made is the tenant's of that organization alone", async (_of, text, tenant) => {
  const store = inProcessStore({ now: Date.now })
  await store.put(providerIdKey('resp_1'), text, 60)
  const services = { store } as unknown as Parameters<typeof knownIds>[0]
  const endpoint = { ids: responsesIds } as unknown as Parameters<typeof knownIds>[1]
  const request = { model: 'm', previous_response_id: 'resp_1' } as ModelRequest
  const known = await knownIds(services, endpoint, request, { name: 'mine', organization: 'acme' })
  expect(known).toMatchObject([{ owner: { tenant, deployment: 'a' } }])
})

describe('whom a request with ids may go to', () => {
  it('is everybody with the same account as the maker, and nobody with another', async () => {
    expect(await keepers([{ type: 'item_reference', id: 'r' }], { r: mine('a') })).toMatchObject({
      able: ['a', 'a-mini'],
    })
    expect(await keepers([{ type: 'item_reference', id: 'r' }], { r: mine('b') })).toMatchObject({ able: ['b'] })
    await expect(keepers([{ id: 'r' }], { r: mine('gone') })).rejects.toMatchObject({ failure: 'not_found' })
  })

  it('is nobody where it refers to things of two accounts', async () => {
    const both = [{ id: 'r' }, { id: 's' }]
    await expect(keepers(both, { r: mine('a'), s: mine('b') })).rejects.toMatchObject({
      details: { param: 'input.1.id' },
    })
  })

  it('is first who made the newest of what it says in full, then everybody', async () => {
    const found = await keepers([said('1'), said('2'), said('3')], {
      1: mine('a'),
      2: mine('b'),
      3: ['other', 'a-org'],
    })
    expect(found).toMatchObject({ able: all, first: ['b'] })
    expect(await keepers([said('1')], {})).toMatchObject({ able: all, first: all })
  })

  it('is whoever has its thoughts, or would not be told them', async () => {
    expect(await keepers([thought('t')], { t: mine('b') })).toMatchObject({ able: ['b', 'chat'], first: ['b'] })
    expect(await keepers([thought('t')], { t: ['other', 'b'] })).toMatchObject({ able: ['chat'] })
    expect(await keepers([thought('t')], {})).toMatchObject({ able: all })
    expect(await keepers([thought('t', 'sealed')], { t: ['other', 'b'] })).toMatchObject({ able: all, first: all })
  })

  it('costs one question, for what is referred to and the newest of the rest', async () => {
    const long = Array.from({ length: 3000 }, (_, at) => said(`msg_${at}`))
    expect(await keepers(long, { msg_2999: mine('b') })).toMatchObject({ asked: 32, first: ['b'] })
    const longest = 'x'.repeat(5_000_000)
    await expect(keepers('Hi', {}, { previous_response_id: longest })).rejects.toMatchObject({ failure: 'not_found' })
  })

  it('is refused where it names more than anybody has', async () => {
    const many = Array.from({ length: 10_001 }, (_, at) => ({ type: 'item_reference', id: `${at}` }))
    await expect(keepers(many, {})).rejects.toMatchObject({ failure: 'invalid_request' })
  })
})

describe('the ids of a request', () => {
  const ids = (body: string) => {
    const bytes = new TextEncoder().encode(body)
    return namedIds(parseLazily(bytes) as ModelRequest, responsesIds).map(({ id, param, standing }) => [
      id,
      param,
      standing,
    ])
  }

  it('are found in a body that is not built, however they are written', () => {
    const long = JSON.stringify('x'.repeat(200_000))
    expect(
      ids(`{"model":"m","input":[{"role":"user","content":${long}},{"\\u0069d":"m\\u0073g","type":"item_reference"}]}`),
    ).toEqual([['msg', 'input.1.id', 'reference']])
    expect(ids(`{"model":"m","tools":[{"x":${long},"\\u0076ector_store_ids":["vs"]}]}`)).toEqual([
      ['vs', 'tools.0.vector_store_ids.0', 'reference'],
    ])
  })

  it('leave a long member alone that can hold none', () => {
    const body = { model: 'm', tools: [{ type: 'function', x: 'vector_store_ids '.repeat(20_000) }] }
    const request = parseLazily(new TextEncoder().encode(JSON.stringify(body))) as ModelRequest
    const built = vi.spyOn(JSON, 'parse')
    expect(namedIds(request, responsesIds)).toEqual([])
    expect(built).not.toHaveBeenCalled()
    built.mockRestore()
  })

  it('are none in what has another shape', () => {
    const odd = [
      '{"conversation":5,"prompt":[{"id":"x"}],"tools":"x","input":[null,5,[{"id":"x"}],{"id":7},{"content":{"file_id":"x"}}]}',
      '{"conversation":null,"prompt":null,"tools":[null],"input":"msg_1"}',
      '{"__proto__":{"previous_response_id":"x"},"constructor":{"id":"x"},"prompt":{"variables":{"__proto__":null}}}',
    ]
    for (const body of odd) expect(ids(body)).toEqual([])
    expect(() => ids(`{"input":[{"id":${'['.repeat(50_000)}}]}`)).toThrow()
  })
})
