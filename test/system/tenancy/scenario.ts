import OpenAI from 'openai'
import { beforeAll, describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../../support/gateway.ts'
import type { ResponsesAccounts } from '../../support/responses-account.node.ts'

const ACCOUNTS = ['sk-account-one', 'sk-account-two'] as const

/** Two accounts behind one name, a third behind its fallback, and one that is open. */
export const configFor = (apiBase: string): string => {
  const entry = (name: string, id: string, key: string, more = '{}') =>
    `  - model_name: ${name}\n    deployment_id: ${id}\n    gateway_params: { model: openai/gpt-5, api_base: '${apiBase}', api_key: ${key} }\n    model_info: ${more}\n`
  const open = '{ allow_foreign_ids: [pmpt_public] }'
  return [
    'router_settings: { cooldown_time: 60, allowed_fails: 0 }\n',
    'gateway_settings: { fallbacks: [{ alone: [reserve] }] }\n',
    'model_list:\n',
    entry('twins', 'twin-one', ACCOUNTS[0]),
    entry('twins', 'twin-two', ACCOUNTS[1]),
    entry('mini', 'mini-one', ACCOUNTS[0]),
    entry('alone', 'alone-three', 'sk-account-three'),
    entry('reserve', 'reserve-four', 'sk-account-four'),
    entry('open', 'open-one', ACCOUNTS[0], open),
    entry('wide', 'wide-one', ACCOUNTS[0], '{ allow_foreign_ids: true }'),
    entry('routed', 'routed-one', ACCOUNTS[0], '{ default_params: { provider: { sort: price } } }').replace(
      'openai/',
      'openrouter/',
    ),
    entry('router', 'router-one', ACCOUNTS[0], '{ allow_routing_fields: [models] }').replace('openai/', 'openrouter/'),
    entry(
      'priced',
      'priced-one',
      ACCOUNTS[0],
      '{ input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 }',
    ).replace('openai/', 'openrouter/'),
  ].join('')
}

export interface Installation {
  /** The addresses of its processes. */
  readonly urls: readonly string[]
  readonly accounts: ResponsesAccounts
}

/** What providers keep, in an installation of two processes, for two tenants over separate accounts. */
export function tenancyScenario(name: string, installed: () => Installation): void {
  describe(name, () => {
    let keys: [string, string]
    let turn = 0

    const url = () => installed().urls[turn++ % installed().urls.length] as string
    const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${url()}/v1`, maxRetries: 0 })
    const post = async (key: string, path: string, body: object) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      return fetch(url() + path, { method: 'POST', headers, body: JSON.stringify(body) })
    }
    const respond = (key: string, body: object) => post(key, '/v1/responses', { model: 'twins', input: 'Hi', ...body })
    const refusal = async (response: Response, id: string) => ({
      status: response.status,
      text: (await response.text()).replaceAll(id, '<id>'),
    })
    const asked = () => installed().accounts.asked

    beforeAll(async () => {
      const made = async () => ((await (await post(MASTER_KEY, '/ui/api/keys', {})).json()) as { key: string }).key
      keys = [await made(), await made()]
    })

    it('twenty conversations go on, each at the account that began it', async () => {
      const before = asked().length
      for (let at = 0; at < 20; at++) {
        const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Hello' }]
        const first = await client(keys[0]).responses.create({ model: 'twins', input })
        input.push(...(first.output as OpenAI.Responses.ResponseInput), { role: 'user', content: 'And now?' })
        const second = await client(keys[0]).responses.create({ model: 'twins', input })
        expect(second.output_text).toBe(`${first.output_text.split(' ')[0]} read 4`)
      }
      const calls = asked().slice(before)
      expect(calls.map(({ status }) => status)).toEqual(Array(40).fill(200))
      expect(new Set(calls.map(({ account }) => account)).size).toBe(2)
    })

    it('a stream is gone on from by the id of its answer and by references, as soon as it has ended', async () => {
      for (let at = 0; at < 10; at++) {
        const stream = client(keys[0]).responses.stream({ model: 'twins', input: 'Hello' })
        const first = await stream.finalResponse()
        const maker = first.output_text.split(' ')[0]
        const next = await client(keys[0]).responses.create({
          model: 'twins',
          input: 'And now?',
          previous_response_id: first.id,
        })
        const references = first.output.map(({ id }) => ({ type: 'item_reference' as const, id: id as string }))
        const again = await client(keys[0]).responses.create({ model: 'twins', input: references })
        // Another model of the same account has them, too.
        const other = await respond(keys[0], { model: 'mini', previous_response_id: first.id })
        expect([next.output_text, again.output_text]).toEqual([`${maker} read 1`, `${maker} read 2`])
        expect(other.status).toBe(maker === ACCOUNTS[0] ? 200 : 404)
        await other.arrayBuffer()
      }
    })

    it('of another tenant is as absent as what nobody made, and nobody is asked', async () => {
      const first = await client(keys[0]).responses.create({ model: 'twins', input: 'A secret.' })
      const [reasoning, message] = first.output as unknown as { id: string }[]
      const before = asked().length
      const tries = (response: string, item: string, thought: string) =>
        [
          [response, { previous_response_id: response }],
          [item, { input: [{ type: 'item_reference', id: item }] }],
          [item, { input: [{ id: item }] }],
          [thought, { input: [{ type: 'item_reference', id: thought }] }],
        ] as const
      const theirs = tries(first.id, message?.id ?? '', reasoning?.id ?? '')
      const nobodys = tries('resp_nobody', 'msg_nobody', 'rs_nobody')
      for (const key of [keys[1], MASTER_KEY]) {
        for (const [at, [id, body]] of theirs.entries()) {
          const refused = await refusal(await respond(key, body), id)
          const absent = nobodys[at] as (typeof nobodys)[number]
          expect(refused).toEqual(await refusal(await respond(key, absent[1]), absent[0]))
          expect(refused).toMatchObject({ status: 404 })
        }
      }
      // Its thoughts are read by their id alone.
      const thought = { type: 'reasoning', id: reasoning?.id, summary: [] }
      expect((await respond(keys[1], { input: [thought] })).status).toBe(404)
      expect(asked()).toHaveLength(before)
      // What is there in full is the client's own to say again.
      expect((await respond(keys[1], { input: [message] })).status).toBe(200)
    })

    it('what no call of the gateway made is refused by its field, unless its operator opens it', async () => {
      const before = asked().length
      const file = { role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }
      const output = {
        type: 'function_call_output',
        call_id: 'c',
        output: [{ type: 'input_image', file_id: 'file-1' }],
      }
      const tool = (fields: object) => ({ tools: [{ type: 'x', ...fields }] })
      const cases: readonly (readonly [string, object])[] = [
        ['conversation', { conversation: 'conv_1' }],
        ['conversation.id', { conversation: { id: 'conv_1' } }],
        ['prompt.id', { prompt: { id: 'pmpt_1' } }],
        ['prompt.variables.v.file_id', { prompt: { variables: { v: { type: 'input_file', file_id: 'file-1' } } } }],
        ['input.0.content.0.file_id', { input: [file] }],
        ['input.1.output.0.file_id', { input: [{ role: 'user', content: 'x' }, output] }],
        ['input.0.output.file_id', { input: [{ type: 'computer_call_output', output: { file_id: 'file-1' } }] }],
        ['input.0.id', { input: [{ type: 'image_generation_call', id: 'ig_1' }] }],
        ['tools.0.vector_store_ids.0', tool({ vector_store_ids: ['vs_1'] })],
        ['tools.0.container', tool({ container: 'cntr_1' })],
        ['tools.0.container.file_ids.0', tool({ container: { type: 'auto', file_ids: ['file-1'] } })],
        ['tools.0.environment.container_id', tool({ environment: { container_id: 'cntr_1' } })],
        ['tools.0.input_image_mask.file_id', tool({ input_image_mask: { file_id: 'file-1' } })],
      ]
      for (const [param, body] of cases) {
        const refused = await respond(keys[0], body)
        expect([param, refused.status, await refused.json()]).toMatchObject([param, 404, { error: { param } }])
      }
      const named = { model: 'open', prompt: { id: 'pmpt_public' } }
      expect((await respond(keys[0], { ...named, prompt: { id: 'pmpt_1' } })).status).toBe(404)
      expect(asked()).toHaveLength(before)
      for (const key of keys) expect((await respond(key, named)).status).toBe(200)
      expect((await respond(keys[0], { model: 'wide', conversation: 'conv_1' })).status).toBe(200)
      // What was made here stays its tenant's.
      const first = await client(keys[0]).responses.create({ model: 'mini', input: 'A secret.' })
      expect((await respond(keys[1], { model: 'wide', previous_response_id: first.id })).status).toBe(404)
      expect((await respond(keys[0], { model: 'wide', previous_response_id: first.id })).status).toBe(200)
    })

    it('is found at the fallback that went on with the conversation', async () => {
      const { down } = installed().accounts
      down.add('sk-account-three')
      const first = await client(keys[0]).responses.create({ model: 'alone', input: 'Hello' })
      down.delete('sk-account-three')
      expect(first.output_text).toBe('sk-account-four read 1')
      const next = await client(keys[0]).responses.create({
        model: 'alone',
        input: 'x',
        previous_response_id: first.id,
      })
      expect(next.output_text).toBe('sk-account-four read 1')
      expect((await respond(keys[1], { model: 'alone', previous_response_id: first.id })).status).toBe(404)
    })

    it('fields that choose other models or hosts are refused to who may not call all, and else left out', async () => {
      const admin = async (path: string, body: object, method = 'POST') => {
        const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' }
        const response = await fetch(`${url()}/ui/api${path}`, { method, headers, body: JSON.stringify(body) })
        expect(response.status, await response.clone().text()).toBeLessThan(300)
        return (await response.json()) as { key: string; key_id: string }
      }
      const [bound, budgeted] = [await admin('/keys', {}), await admin('/keys', { max_budget: 5 })]
      await admin(
        `/keys/${bound.key_id}/model-access`,
        { mode: 'restrict', models: ['priced', 'router', 'twins'] },
        'PUT',
      )
      const messages = [{ role: 'user', content: 'x' }]
      const chat = (key: string, body: object) =>
        post(key, '/v1/chat/completions', { model: 'priced', messages, ...body })
      const fields = {
        models: ['openai/o1-pro'],
        route: 'fallback',
        provider: { order: ['elsewhere'] },
        plugins: [{ id: 'web' }],
        preset: 'mine',
        fallbacks: ['openai/o1-pro'],
      }
      const before = asked().length
      for (const [field, value] of Object.entries(fields)) {
        for (const { key } of [bound, budgeted]) {
          const refused = await chat(key, { [field]: value })
          const told = [refused.status, await refused.json()]
          expect(told).toMatchObject([403, { error: { type: 'permission_error', param: field } }])
        }
      }
      const adviser = { type: 'openrouter:advisor', parameters: { model: 'openai/o1-pro' } }
      const painter = { type: 'image_generation', model: 'gpt-image-9' }
      expect((await chat(bound.key, { tools: [adviser] })).status).toBe(403)
      expect((await respond(bound.key, { tools: [painter] })).status).toBe(403)
      expect(asked()).toHaveLength(before)
      for (const { key } of [bound, budgeted]) expect((await chat(key, {})).status).toBe(200)
      expect((await chat(bound.key, { model: 'router', models: ['a'] })).status).toBe(200)
      expect(asked().at(-1)?.body).toMatchObject({ models: ['a'] })

      const free = await chat(keys[0], { model: 'routed', ...fields, seed: 7 })
      expect([free.status, free.headers.get('x-gateway-dropped')]).toEqual([200, Object.keys(fields).join(', ')])
      // What the operator has set for the deployment holds.
      const sent = { model: 'gpt-5', messages, seed: 7, provider: { sort: 'price' } }
      expect(asked().at(-1)?.body).toEqual(sent)
      const inItems = { model: 'routed', input: 'x', models: ['openai/o1-pro'], provider: { order: ['elsewhere'] } }
      expect((await respond(keys[0], inItems)).status).toBe(200)
      expect(asked().at(-1)?.body).toEqual({ model: 'gpt-5', messages, provider: { sort: 'price' } })
    })

    it('what the gateway keeps for a translated model goes on in any process, for one tenant, and at native ones', async () => {
      const translated = client(keys[0]).responses
      const first = await translated.create({ model: 'routed', input: 'A secret.' })
      const second = await client(keys[0]).responses.create({
        model: 'routed',
        input: 'And?',
        previous_response_id: first.id,
      })
      const said = (asked().at(-1) as { body: object }).body as { messages: { content: string }[] }
      expect(said.messages.map(({ content }) => content)).toEqual(['A secret.', 'Hi', 'And?'])
      const own = await fetch(`${url()}/v1/responses/${second.id}`, { headers: { authorization: `Bearer ${keys[0]}` } })
      expect([own.status, ((await own.json()) as { id: string }).id]).toEqual([200, second.id])
      // Another speaks the dialect itself: it gets the conversation, and keeps its own answer to it.
      const native = await client(keys[0]).responses.create({
        model: 'mini',
        input: 'Now you.',
        previous_response_id: second.id,
      })
      expect(asked().at(-1)?.body).toMatchObject({ input: { length: 5 } })
      expect(asked().at(-1)?.body).not.toHaveProperty('previous_response_id')
      // What a provider keeps stays with those who share its account.
      const back = await respond(keys[0], { model: 'routed', previous_response_id: native.id })
      expect([back.status, await back.json()]).toMatchObject([404, { error: { code: 'previous_response_not_found' } }])

      const before = asked().length
      const foreign = await respond(keys[1], { model: 'routed', previous_response_id: first.id })
      const none = await respond(keys[1], { model: 'routed', previous_response_id: `resp_${'0'.repeat(24)}` })
      expect(await refusal(foreign, first.id)).toEqual(await refusal(none, `resp_${'0'.repeat(24)}`))
      expect(foreign.status).toBe(404)
      for (const [path, method] of [
        ['', 'GET'],
        ['', 'DELETE'],
        ['/input_items', 'GET'],
        ['/cancel', 'POST'],
      ] as const) {
        const headers = { authorization: `Bearer ${keys[1]}` }
        const refused = await fetch(`${url()}/v1/responses/${first.id}${path}`, { method, headers })
        expect([refused.status, await refused.json()]).toMatchObject([404, { error: { code: 'response_not_found' } }])
      }
      expect(asked()).toHaveLength(before)
    })

    it('a provider that has forgotten what a client names is not cooled for it', async () => {
      const thought = (at: number) => ({ input: [{ type: 'reasoning', id: `rs_of_before_${at}`, summary: [] }] })
      for (let at = 0; at < 6; at++) expect((await respond(keys[0], thought(at))).status).toBe(404)
      for (let at = 0; at < 6; at++) expect((await respond(keys[0], {})).status).toBe(200)
    })
  })
}
