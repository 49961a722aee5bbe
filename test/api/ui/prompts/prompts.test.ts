import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { configOf } from '../../../support/gateway.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')
const upstream = upstreamClient(inject('upstreamUrl'))

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

const say = (text: string) => ({ messages: [{ role: 'system', content: text }] })

describe.skipIf(!postgresUrl || !redisUrl)('prompts', () => {
  let one: FullGateway
  let other: FullGateway

  beforeAll(async () => {
    const stores = `general_settings: { database_url: '${await preparedDatabase(postgresUrl)}', redis_url: '${redisUrl}' }`
    const yaml = configOf(upstream.url, { plain: ['prompts-plain'] }, stores)
    ;[one, other] = await Promise.all([startFullGateway(yaml), startFullGateway(yaml)])
  })
  afterAll(async () => {
    await Promise.all([one?.close(), other?.close()])
  })

  async function ask(method: string, path: string, body?: unknown, gateway = one): Promise<Answer> {
    const response = await gateway.fetch(`/ui/api/prompts${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, body: await response.json() }
  }

  /** The system message that the upstream was sent, or the refusal. */
  async function asked(prompt_ref: string, gateway = one, variables?: object) {
    const metadata = { prompt_ref, ...(variables ? { prompt_variables: variables } : {}) }
    const response = await gateway.chat({ model: 'plain', messages: [{ role: 'user', content: 'Hi' }], metadata })
    // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
    const body = (await response.json()) as any
    if (response.status !== 200) return { status: response.status, ...body.error }
    const sent = (await upstream.calls('prompts-plain')).at(-1)?.body
    const { messages } = JSON.parse(new TextDecoder().decode(sent)) as { messages: { content: string }[] }
    return { prompt: response.headers.get('x-gateway-prompt'), said: messages[0]?.content }
  }

  it('are made with a first version, and get more, which never change', async () => {
    const made = await ask('POST', '', {
      key: 'greeting',
      description: 'How to greet.',
      ...say('Greet {{name}} in {{ language }}.'),
      note: 'the first',
      labels: ['staging'],
    })
    expect(made).toMatchObject({
      status: 201,
      body: { key: 'greeting', state: 'active', latest: 1, labels: { staging: 1 }, former_labels: {}, revision: 1 },
    })
    const second = { ...say('Hello {{name}}'), variables: { name: { type: 'string', max_length: 5 } } }
    expect(await ask('POST', '/greeting/versions', second)).toMatchObject({
      status: 201,
      body: { latest: 2, labels: { staging: 1 }, revision: 2 },
    })
    const found = await ask('GET', '/greeting')
    expect(found.body.versions).toMatchObject([
      { version: 2, created_by: 'master_key', note: '' },
      { version: 1, note: 'the first' },
    ])
    // What a text names and nobody declared is a required string.
    expect((await ask('GET', '/greeting/versions/1')).body).toMatchObject({
      version: 1,
      messages: [{ role: 'system', content: 'Greet {{name}} in {{ language }}.' }],
      variables: { name: { type: 'string', required: true }, language: { type: 'string', required: true } },
    })
    expect((await ask('GET', '/greeting/versions/3')).status).toBe(404)
    expect((await ask('GET', '/greeting/versions?limit=1')).body).toMatchObject({
      data: [{ version: 2 }],
      next_cursor: '2',
    })
    expect((await ask('GET', '/greeting/versions?cursor=2')).body).toMatchObject({
      data: [{ version: 1 }],
      next_cursor: null,
    })
  })

  it.each([
    ['key', { key: 'a@1', ...say('x') }],
    ['key', { key: '', ...say('x') }],
    ['key', say('x')],
    ['messages', { key: 'bad' }],
    ['messages', { key: 'bad', messages: [] }],
    ['messages[0].role', { key: 'bad', messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].content', { key: 'bad', ...say('Hello {{first name}}') }],
    ['messages[0].content', { key: 'bad', ...say('{{#if x}}') }],
    ['messages[0].content', { key: 'bad', ...say('{{__proto__}}') }],
    ['messages[0].content', { key: 'bad', ...say('{{name}} {{nmae}}'), variables: { name: { type: 'string' } } }],
    ['variables.9', { key: 'bad', ...say('x'), variables: { 9: { type: 'string' } } }],
    ['variables.a.type', { key: 'bad', ...say('x'), variables: { a: { type: 'date' } } }],
    ['variables.a.enum', { key: 'bad', ...say('x'), variables: { a: { type: 'enum' } } }],
    ['variables.a.max_length', { key: 'bad', ...say('x'), variables: { a: { type: 'number', max_length: 3 } } }],
    ['variables.a.default', { key: 'bad', ...say('x'), variables: { a: { type: 'integer', default: 1.5 } } }],
    [
      'variables.a.default',
      { key: 'bad', ...say('x'), variables: { a: { type: 'string', required: true, default: '' } } },
    ],
    ['labels[0]', { key: 'bad', ...say('x'), labels: ['latest'] }],
    ['labels[0]', { key: 'bad', ...say('x'), labels: ['7'] }],
    ['description', { key: 'bad', ...say('x'), description: '\0' }],
    ['messages', { key: 'bad', messages: Array.from({ length: 3 }, () => say('x'.repeat(50_000)).messages[0]) }],
  ])('a mistake is refused, naming %s', async (param, body) => {
    const answer = await ask('POST', '', body)
    expect([answer.status, answer.body.error.param, answer.body.error.message]).toEqual([
      400,
      param,
      expect.any(String),
    ])
    expect((await ask('GET', '/bad')).status).toBe(404)
  })

  it('a key is taken once, and a text is written to the character, \\u0000 and halves of characters included', async () => {
    const text = 'a\0b \ud800 \\{{x}} "\'\n\u2028'
    expect((await ask('POST', '', { key: 'odd', ...say(text) })).status).toBe(201)
    expect((await ask('POST', '', { key: 'odd', ...say('again') })).body.error).toMatchObject({
      param: 'key',
      code: 'conflict',
    })
    expect((await ask('GET', '/odd/versions/1')).body.messages).toEqual([{ role: 'system', content: text }])
  })

  it('versions that are made at once are numbered without gaps, and each label ends at one of them', async () => {
    await ask('POST', '', { key: 'busy', ...say('version 1') })
    const made = await Promise.all(
      Array.from({ length: 49 }, (_, index) =>
        ask('POST', '/busy/versions', { ...say(`text ${index}`), labels: ['moving'] }, index % 2 ? one : other),
      ),
    )
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
    expect(made.map(({ body }) => body.latest).sort((a, b) => a - b)).toEqual(made.map((_, index) => index + 2))
    for (const { body } of made) expect(body.labels.moving).toBe(body.latest)
    const { body } = await ask('GET', '/busy')
    expect(body).toMatchObject({ latest: 50, labels: { moving: 50 }, former_labels: { moving: 49 }, revision: 50 })
    expect(body.versions.map(({ version }: { version: number }) => version)).toEqual(
      Array.from({ length: 50 }, (_, index) => 50 - index),
    )
  }, 60_000)

  it('labels move, go back and go away; the newest version has none', async () => {
    await ask('POST', '', { key: 'moved', ...say('one'), labels: ['production'] })
    await ask('POST', '/moved/versions', say('two'))
    const moved = await ask('PUT', '/moved/labels/production', { version: 2 })
    expect(moved.body).toMatchObject({ labels: { production: 2 }, former_labels: { production: 1 } })
    // The same move once more does not forget where the label came from.
    await ask('PUT', '/moved/labels/production', { version: 2 })
    const back = await ask('POST', '/moved/roll-back', {})
    expect(back.body).toMatchObject({ labels: { production: 1 }, former_labels: { production: 2 } })
    expect((await ask('POST', '/moved/roll-back', { label: 'production' })).body.labels).toEqual({ production: 2 })
    expect(await ask('PUT', '/moved/labels/production', { version: 3 })).toMatchObject({
      status: 404,
      body: { error: { param: 'version' } },
    })
    expect(await ask('PUT', '/moved/labels/latest', { version: 1 })).toMatchObject({
      status: 400,
      body: { error: { param: 'label' } },
    })
    expect((await ask('PUT', '/moved/labels/beta', { version: 1 })).body.labels).toEqual({ production: 2, beta: 1 })
    expect(await ask('POST', '/moved/roll-back', { label: 'beta' })).toMatchObject({
      status: 409,
      body: { error: { code: 'nothing_to_roll_back' } },
    })
    expect((await ask('DELETE', '/moved/labels/beta')).body.labels).toEqual({ production: 2 })
    expect((await ask('DELETE', '/moved/labels/beta')).status).toBe(404)
    expect((await ask('POST', '/moved/roll-back', { label: 'beta' })).status).toBe(404)
  })

  it('a call means production where that label is, else the newest version; a change is in every process within 5 s', async () => {
    await ask('POST', '', { key: 'live', ...say('one') })
    await ask('POST', '/live/versions', say('two'))
    expect(await asked('live')).toEqual({ prompt: 'live@2', said: 'two' })
    await ask('PUT', '/live/labels/production', { version: 1 })
    expect(await asked('live')).toEqual({ prompt: 'live@1', said: 'one' })
    expect(await asked('live:latest')).toEqual({ prompt: 'live@2', said: 'two' })
    expect(await asked('live:production')).toEqual({ prompt: 'live@1', said: 'one' })
    await ask('POST', '/live/versions', say('three'))
    // Neither the newest nor with a label.
    expect(await asked('live@2')).toEqual({ prompt: 'live@2', said: 'two' })

    const since = Date.now()
    await ask('PUT', '/live/labels/production', { version: 3 })
    expect(await asked('live')).toEqual({ prompt: 'live@3', said: 'three' })
    let there = await asked('live', other)
    while (there.said !== 'three' && Date.now() - since < 15_000) {
      await wait(100)
      there = await asked('live', other)
    }
    expect(there).toEqual({ prompt: 'live@3', said: 'three' })
  })

  describe('that a published policy names', () => {
    const group = async (method: string, path: string, body?: unknown, gateway = one) => {
      const init =
        body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      const response = await gateway.fetch(`/ui/api/route-groups${path}`, { method, ...init })
      // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
      return { status: response.status, body: (await response.json()) as any }
    }
    const draft = async (name: string, prompt_ref: string | null) =>
      expect((await group('PUT', `/${name}/policy/draft`, { prompt_ref })).status).toBe(200)
    const publish = (name: string, gateway = one) => group('POST', `/${name}/policy/publish`, undefined, gateway)
    const stateOf = async (key: string) => (await ask('GET', `/${key}`)).body.state

    it.each(['used', 'used@1', 'used:live'])('as %s are not archived, and the groups are named', async (ref) => {
      await ask('POST', '', { key: 'used', ...say('x'), labels: ['live'] })
      await ask('POST', '', { key: 'use', ...say('x') })
      await draft('plain', ref)
      expect((await publish('plain')).status).toBe(200)
      const refused = await ask('POST', '/used/archive', undefined, other)
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'prompt_in_use', param: 'key' } } })
      expect(refused.body.error.message).toContain("'plain'")
      expect(await stateOf('used')).toBe('active')
      expect((await ask('POST', '/use/archive')).body.state).toBe('archived')
      await ask('POST', '/use/unarchive')
      await draft('plain', null)
      expect((await publish('plain')).status).toBe(200)
      expect((await ask('POST', '/used/archive')).body.state).toBe('archived')
      await ask('DELETE', '/used')
    })

    it('are archived when the group is no more, or only drafts them; what names an archived one is not published', async () => {
      await ask('POST', '', { key: 'left', ...say('x') })
      expect((await group('POST', '', { name: 'brief', members: [{ model_name: 'plain' }] })).status).toBe(201)
      await draft('brief', 'left')
      expect((await publish('brief')).status).toBe(200)
      expect((await ask('POST', '/left/archive')).status).toBe(409)
      expect((await group('DELETE', '/brief')).status).toBe(200)
      await draft('plain', 'left')
      expect((await ask('POST', '/left/archive')).body.state).toBe('archived')

      const mistaken = { status: 400, body: { error: { param: 'prompt_ref' } } }
      expect(await publish('plain', other)).toMatchObject(mistaken)
      await ask('POST', '/left/unarchive')
      const { body } = await publish('plain')
      await draft('plain', null)
      await publish('plain')
      await ask('POST', '/left/archive')
      const { version } = body.published
      expect(await group('POST', '/plain/policy/rollback', { version })).toMatchObject(mistaken)
      expect((await group('GET', '/plain/policy')).body.published.policy.prompt_ref ?? null).toBeNull()
    })

    it('are never archived by one process while another publishes the policy', async () => {
      await ask('POST', '', { key: 'raced', ...say('x') })
      for (let round = 0; round < 15; round++) {
        await draft('plain', 'raced')
        const [archived, published] = await Promise.all([ask('POST', '/raced/archive'), publish('plain', other)])
        expect([archived.status, published.status].sort()).toSatisfy(
          ([first, second]) => first === 200 && second !== 200,
          JSON.stringify([archived, published]),
        )
        await ask('POST', '/raced/unarchive')
        await draft('plain', null)
        await publish('plain')
      }
    })
  })

  it('an archived prompt is named by no call and deleted only then; a new one of its key is another', async () => {
    await ask('POST', '', { key: 'gone', ...say('before') })
    await ask('POST', '/gone/versions', say('newer'))
    expect(await asked('gone@1')).toMatchObject({ said: 'before' })
    expect(await ask('DELETE', '/gone')).toMatchObject({ status: 409, body: { error: { code: 'prompt_active' } } })
    expect((await ask('POST', '/gone/archive')).body).toMatchObject({ state: 'archived' })
    expect((await ask('POST', '/gone/archive')).body).toMatchObject({ state: 'archived', revision: 3 })
    expect(await asked('gone')).toMatchObject({ status: 400, param: 'metadata.prompt_ref', code: 'prompt_not_found' })
    const conflicts = [
      await ask('POST', '/gone/versions', say('x')),
      await ask('PUT', '/gone/labels/a', { version: 1 }),
      await ask('POST', '/gone/roll-back', {}),
    ]
    expect(conflicts.map(({ status, body }) => [status, body.error.code])).toEqual(
      conflicts.map(() => [409, 'prompt_archived']),
    )
    expect((await ask('GET', '?search=gone')).body.data).toEqual([])
    expect((await ask('GET', '?search=gone&state=archived')).body.data).toMatchObject([{ key: 'gone' }])
    await ask('POST', '/gone/unarchive')
    expect(await asked('gone')).toMatchObject({ said: 'newer' })
    await ask('POST', '/gone/archive')
    expect((await ask('DELETE', '/gone')).status).toBe(200)
    expect((await ask('GET', '/gone')).status).toBe(404)
    await ask('POST', '', { key: 'gone', ...say('after') })
    await ask('POST', '/gone/versions', say('after, newer'))
    expect(await asked('gone@1')).toMatchObject({ said: 'after' })
  })

  it('the description changes, of the revision that was meant', async () => {
    await ask('POST', '', { key: 'described', ...say('x') })
    expect((await ask('PATCH', '/described', { description: 'new', revision: 1 })).body).toMatchObject({
      description: 'new',
      revision: 2,
    })
    expect(await ask('PATCH', '/described', { description: 'newer', revision: 1 })).toMatchObject({
      status: 409,
      body: { error: { code: 'version_conflict' } },
    })
    expect((await ask('PATCH', '/described', { messages: [] })).status).toBe(400)
    expect((await ask('PATCH', '/nobody', { description: '' })).status).toBe(404)
  })

  it('are listed by key, page by page, and found by what is in their description', async () => {
    await Promise.all(
      ['p-1', 'p-2', 'p-3'].map((key) => ask('POST', '', { key, ...say('x'), description: `Listed ${key}` })),
    )
    const first = (await ask('GET', '?search=LISTED&limit=2')).body
    expect(first).toMatchObject({ data: [{ key: 'p-1' }, { key: 'p-2' }], next_cursor: 'p-2' })
    const second = (await ask('GET', `?search=LISTED&limit=2&cursor=${first.next_cursor}`)).body
    expect(second).toMatchObject({ data: [{ key: 'p-3' }], next_cursor: null })
  })

  it('a preview shows what a call would send, and names what is wrong', async () => {
    await ask('POST', '', {
      key: 'preview',
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'List: {{list}}' }] },
        { role: 'user', content: '{{n}} {{yes}} {{who}}{{none}}' },
      ],
      variables: {
        list: { type: 'array', max_length: 2 },
        n: { type: 'integer' },
        yes: { type: 'boolean', default: false },
        who: { type: 'enum', enum: ['a', 'b'] },
        none: { type: 'object', required: false },
      },
    })
    const render = (variables: object, more: object = {}) => ask('POST', '/preview/render', { variables, ...more })
    expect(await render({ list: [1, { a: '{{n}}' }], n: 3, who: 'b' })).toEqual({
      status: 200,
      body: {
        key: 'preview',
        version: 1,
        messages: [
          { role: 'developer', content: [{ type: 'text', text: 'List: [1,{"a":"{{n}}"}]' }] },
          { role: 'user', content: '3 false b' },
        ],
      },
    })
    const wrong: [string, object][] = [
      ['variables.list', { n: 3, who: 'b' }],
      ['variables.list', { list: [1, 2, 3], n: 3, who: 'b' }],
      ['variables.n', { list: [], n: '3', who: 'b' }],
      ['variables.n', { list: [], n: null, who: 'b' }],
      ['variables.yes', { list: [], n: 3, who: 'b', yes: 'true' }],
      ['variables.who', { list: [], n: 3, who: 'c' }],
      ['variables.none', { list: [], n: 3, who: 'b', none: [] }],
      ['variables.more', { list: [], n: 3, who: 'b', more: 1 }],
    ]
    for (const [param, variables] of wrong) {
      expect(await render(variables)).toMatchObject({ status: 400, body: { error: { param } } })
    }
    expect(await render({}, { label: 'nowhere' })).toMatchObject({ status: 404, body: { error: { param: 'label' } } })
    expect(await render({}, { version: 1, label: 'latest' })).toMatchObject({ status: 400 })
  })

  it('a preview of a draft, or of what a call names, says what the call would send', async () => {
    const draft = { messages: [{ role: 'system', content: 'Sell \\{{x}} at {{shop}} for {{ price }}.' }] }
    const typed = { ...draft, variables: { shop: { type: 'string' }, price: { type: 'number', default: 3 } } }
    const render = (body: object) => ask('POST', '/render', body)
    const said = (content: string) => [{ role: 'system', content }]
    expect((await render({ ...typed, values: { shop: '{{me}}' } })).body).toEqual({
      key: null,
      version: null,
      messages: said('Sell {{x}} at {{me}} for 3.'),
      missing: [],
    })
    expect((await render({ ...draft, lenient: true, values: { price: 'two' } })).body).toMatchObject({
      messages: said('Sell {{x}} at {{shop}} for two.'),
      missing: ['shop'],
    })
    const wrong: [string, object][] = [
      ['values.shop', { ...typed }],
      ['values.price', { ...typed, lenient: true, values: { shop: 's', price: 'two' } }],
      ['values.more', { ...typed, lenient: true, values: { more: 1 } }],
      ['messages[0].content', { messages: [{ role: 'system', content: '{{ no name }}' }] }],
      ['messages', {}],
      ['messages', { ...draft, prompt_ref: 'a' }],
      ['prompt_ref', { prompt_ref: 'a@live' }],
      ['key', { prompt_ref: 'nobody' }],
    ]
    for (const [param, body] of wrong) expect((await render(body)).body).toMatchObject({ error: { param } })

    await ask('POST', '', { key: 'named', ...draft, labels: ['live'] })
    await ask('POST', '/named/versions', { messages: [{ role: 'user', content: 'Newer' }] })
    const values = { shop: 's', price: 'p' }
    for (const prompt_ref of ['named:live', 'named@1']) {
      expect((await render({ prompt_ref, values })).body).toEqual({
        key: 'named',
        version: 1,
        messages: said('Sell {{x}} at s for p.'),
        missing: [],
      })
    }
    expect((await render({ prompt_ref: 'named' })).body).toMatchObject({ version: 2, messages: [{ content: 'Newer' }] })
    expect((await render({ prompt_ref: 'named@3' })).body).toMatchObject({ error: { param: 'version' } })
  })

  it('two versions are compared message by message, line by line', async () => {
    await ask('POST', '', { key: 'diffed', messages: [{ role: 'system', content: 'a\nb\nc\nd' }] })
    const messages = [
      { role: 'developer', content: 'a\nc\nx\nd' },
      { role: 'user', content: '{{q}}' },
    ]
    await ask('POST', '/diffed/versions', { messages })
    const { body } = await ask('GET', '/diffed/diff?from=1&to=2')
    expect(body.messages).toEqual([
      {
        role: { from: 'system', to: 'developer' },
        lines: [
          { op: ' ', text: 'a' },
          { op: '-', text: 'b' },
          { op: ' ', text: 'c' },
          { op: '+', text: 'x' },
          { op: ' ', text: 'd' },
        ],
      },
      { role: { from: null, to: 'user' }, lines: [{ op: '+', text: '{{q}}' }] },
    ])
    expect(body.variables).toContainEqual({ op: '+', text: '  "q": {' })
    expect((await ask('GET', '/diffed/diff?from=1&to=3')).status).toBe(404)
    expect((await ask('GET', '/diffed/diff?from=1')).status).toBe(400)
  })

  it('each write is audited with what changed, a preview is not', async () => {
    await ask('POST', '', { key: 'audited', ...say('x'), labels: ['a'] })
    await ask('POST', '/audited/versions', { ...say('y'), labels: ['a'] })
    await ask('POST', '/audited/render', {})
    await ask('POST', '/audited/roll-back', { label: 'a' })
    await ask('DELETE', '/audited/labels/a')
    await ask('POST', '/audited/archive')
    await ask('DELETE', '/audited')
    const told = async () => {
      const response = await one.fetch('/ui/api/audit/events?resource_type=prompt&resource_id=audited')
      const { data } = (await response.json()) as { data: { action: string; changes: object }[] }
      return data.reverse().map(({ action, changes }) => [action, changes])
    }
    await expect.poll(async () => (await told()).length).toBe(6)
    expect(await told()).toEqual([
      ['prompt.create', expect.objectContaining({ latest: { old: null, new: 1 } })],
      ['prompt.add_version', { latest: { old: 1, new: 2 }, labels: { old: { a: 1 }, new: { a: 2 } } }],
      ['prompt.roll_back', { 'labels.a': { old: 2, new: 1 } }],
      ['prompt.drop_label', { 'labels.a': { old: 1, new: null } }],
      ['prompt.archive', { state: { old: 'active', new: 'archived' } }],
      ['prompt.delete', expect.objectContaining({ latest: { old: 2, new: null } })],
    ])
  })
})
