import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { contentKey, newBatchId } from '../../../../src/batch/batch-ids.ts'
import { queries, rowsOf } from '../../../../src/stores/sql/query.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { keepFromWorkers, plantFile } from '../../../support/batches.ts'
import { signedIn } from '../../../support/people.ts'
import { DATABASES } from '../../../support/people-gateways.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

describe.each(DATABASES)('batches for administrators, with %s', (_name, setting) => {
  const gateway = withFullGateway(
    async () => `
general_settings:
  embeddings_batch_enabled: true
  batch_max_active: 3
  ${await setting()}
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`,
  )
  const ask = adminApi(() => gateway)

  beforeAll(async () => {
    await keepFromWorkers(gateway.sql)
    await ask('POST', '/organizations', { organization_id: 'acme' })
    for (const team_id of ['blue', 'red']) await ask('POST', '/teams', { team_id, organization_id: 'acme' })
  })

  const line = (at: number) => JSON.stringify({ custom_id: `id-${at}`, body: { at } })
  type Values = Parameters<ReturnType<typeof queries.insertInto<'gateway_batch'>>['values']>[0]

  /** A batch of five requests of which the first three have ended or begun. */
  async function plant(team_id: string, more: Partial<Extract<Values, { batch_id: unknown }>> = {}): Promise<string> {
    const { key_id } = (await ask('POST', '/keys', { team_id, key_name: `of ${team_id}` })).body
    const owner = { key_id, team_id, organization_id: 'acme' }
    const input_file_id = await plantFile(gateway.sql, owner)
    const input = `${[0, 1, 2, 3, 4].map(line).join('\n')}\n`
    await gateway.blobs.put(contentKey(input_file_id), new TextEncoder().encode(input), 'application/jsonl')
    const batch_id = newBatchId()
    const soon = sql<string>`now() + interval '20 seconds'`
    await rowsOf(
      gateway.sql,
      queries.insertInto('gateway_batch').values({
        batch_id,
        endpoint: '/v1/chat/completions',
        input_file_id,
        ...owner,
        status: 'in_progress',
        in_progress_at: sql<string>`now() - interval '30 seconds'`,
        requests: 5,
        next_item: 4,
        completed: 1,
        failed: 1,
        cost_nano: 1_500_000_000,
        expires_at: sql<string>`now() + interval '1 day'`,
        ...more,
      }),
    )
    const ended = { ended_at: sql<string>`now() - interval '6 seconds'`, due_at: soon, custom_id: 'x' }
    const items = [
      { item: 0, state: 'completed' as const, status: 200, cost_nano: 20_000_000, ...ended },
      { item: 1, state: 'failed' as const, status: 400, error_code: 'bad', ...ended },
      { item: 2, token: 'somebody', due_at: soon },
      { item: 3, tries: 2, last_error: 'provider away', due_at: soon },
    ]
    for (const item of items) {
      await rowsOf(gateway.sql, queries.insertInto('gateway_batch_item').values({ batch_id, ...item }))
    }
    return batch_id
  }

  it('show progress, speed, cost, the estimated end and the oldest error', async () => {
    const id = await plant('blue')
    const { status, body } = await ask('GET', `/batches/${id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id,
      status: 'in_progress',
      team_name: null,
      key_name: 'of blue',
      progress: { total: 5, waiting: 2, running: 1, completed: 1, failed: 1 },
      cost: 1.5,
      oldest_error: { item: 1, custom_id: 'x', error: 'bad' },
      errors: [],
    })
    // Two ended within six seconds.
    expect(body.items_per_minute).toBeGreaterThan(10)
    expect(body.items_per_minute).toBeLessThanOrEqual(20)
    const left = (Date.parse(body.estimated_end) - Date.now()) / 1000
    expect(left).toBeGreaterThan(6)
    expect(left).toBeLessThan(20)
    await ask('POST', `/batches/${id}/cancel`)
  })

  it('show the requests that have begun, by their state, page after page', async () => {
    const id = await plant('blue')
    const { body } = await ask('GET', `/batches/${id}/items`)
    const brief = (rows: Record<string, unknown>[]) => rows.map(({ item, state, error }) => [item, state, error])
    expect(brief(body.data)).toEqual([
      [0, 'completed', null],
      [1, 'failed', 'bad'],
      [2, 'running', null],
      [3, 'waiting', 'provider away'],
    ])
    expect(body.data[0]).toMatchObject({ custom_id: 'x', status: 200, cost: 0.02, tries: 0 })
    expect(body.data[3].tries).toBe(2)
    for (const { item, state } of body.data) {
      const found = await ask('GET', `/batches/${id}/items?state=${state}`)
      expect(found.body.data.map((one: { item: number }) => one.item)).toEqual([item])
    }
    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { data: { item: number }[]; next_cursor: string | null } = (
        await ask('GET', `/batches/${id}/items?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
      ).body
      seen.push(...page.data.map(({ item }) => item))
      cursor = page.next_cursor
    }
    expect(seen).toEqual([0, 1, 2, 3])
    expect((await ask('GET', `/batches/${id}/items?cursor=x`)).status).toBe(400)
    await ask('POST', `/batches/${id}/cancel`)
  })

  it('are made by a person as a key of theirs, from a file that they upload', async () => {
    const ann = await signedIn(gateway, { teams: { red: 'team_developer' } })
    await ask('PATCH', '/teams/red', { self_service_keys_enabled: true })
    const { key_id: own } = (await ann.ask('POST', '/ui/api/keys', { team_id: 'red', owner: 'me' })).body
    const { key_id: other } = (await ask('POST', '/keys', { team_id: 'red' })).body
    const upload = (key: string, headers: Record<string, string> = { 'x-requested-with': 'fetch' }) => {
      const form = new FormData()
      form.set('purpose', 'batch')
      const body = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }
      const text = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body })
      form.set('file', new File([text], 'requests.jsonl'))
      return fetch(`${gateway.url}/ui/api/batches/files?key_id=${key}`, {
        method: 'POST',
        body: form,
        headers: { origin: new URL(gateway.url).origin, cookie: `gateway_session=${ann.token}`, ...headers },
      })
    }
    const uploaded = await upload(own)
    const file = (await uploaded.json()) as { id: string; purpose: string }
    expect([uploaded.status, file.purpose]).toEqual([200, 'batch'])
    // A form of another site can neither send the header nor know of the key.
    expect((await upload(own, {})).status).toBe(403)
    expect((await upload(other)).status).toBe(403)
    expect((await upload('key-nobody')).status).toBe(404)

    const make = (key: string, fields: object = {}) =>
      ann.ask('POST', `/ui/api/batches?key_id=${key}`, {
        input_file_id: file.id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
        ...fields,
      })
    const made = await make(own)
    expect(made).toMatchObject({ status: 200, body: { status: 'validating', input_file_id: file.id } })
    expect((await ask('GET', `/batches/${made.body.id}`)).body).toMatchObject({ key_id: own, team_id: 'red' })
    expect((await make(own, { endpoint: '/v1/nothing' })).body.error.param).toBe('endpoint')
    expect((await make(own, { input_file_id: 'file-none' })).body.error.code).toBe('file_not_found')
    expect((await make(other)).status).toBe(403)
    await ask('POST', `/keys/${own}/revoke`)
    expect(await make(own)).toMatchObject({ status: 409, body: { error: { code: 'key_revoked', param: 'key_id' } } })
    await gateway.idle()
    const events = async () => (await ask('GET', `/audit/events?actor_id=${ann.accountId}&limit=200`)).body.data
    await expect
      .poll(async () => (await events()).map(({ action, status }: Record<string, string>) => `${action} ${status}`))
      .toEqual(expect.arrayContaining(['file.create 200', 'batch.create 200']))
  })

  it('are listed newest first, within reach and by their filters', async () => {
    await rowsOf(gateway.sql, queries.deleteFrom('gateway_batch'))
    const ids = [await plant('blue'), await plant('red'), await plant('blue', { status: 'failed' })]
    const listed = async (query: string) =>
      (await ask('GET', `/batches${query}`)).body.data.map(({ id }: { id: string }) => id)
    expect(await listed('')).toEqual(ids.toReversed())
    expect(await listed('?team_id=blue')).toEqual([ids[2], ids[0]])
    expect(await listed('?status=failed')).toEqual([ids[2]])
    expect(await listed('?endpoint=/v1/embeddings')).toEqual([])
    const first = (await ask('GET', '/batches?limit=2')).body
    expect(await listed(`?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`)).toEqual([ids[0]])
    expect((await ask('GET', '/batches?cursor=x')).status).toBe(400)
    const red = await signedIn(gateway, { teams: { red: 'team_developer' } })
    const seen = await red.ask('GET', '/ui/api/batches')
    expect(seen.body.data.map(({ id }: { id: string }) => id)).toEqual([ids[1]])
    expect((await red.ask('GET', `/ui/api/batches/${ids[0]}`)).status).toBe(404)
    await rowsOf(gateway.sql, queries.updateTable('gateway_batch').set({ status: 'completed' }))
  })

  it('give their files, each while it is there', async () => {
    const id = await plant('blue', { status: 'failed' })
    const input = await gateway.fetch(`/ui/api/batches/${id}/files/input`)
    expect(input.headers.get('content-disposition')).toContain('attachment')
    expect((await input.text()).split('\n')).toHaveLength(6)
    expect((await ask('GET', `/batches/${id}/files/output`)).status).toBe(404)
    expect((await ask('GET', `/batches/${id}/files/other`)).status).toBe(400)
  })

  it('are cancelled once', async () => {
    const id = await plant('red')
    const cancelled = await ask('POST', `/batches/${id}/cancel`)
    expect(cancelled).toMatchObject({ status: 200, body: { id, status: 'cancelling' } })
    expect((await ask('POST', `/batches/${id}/cancel`)).status).toBe(200)
    await rowsOf(
      gateway.sql,
      queries.updateTable('gateway_batch').set({ status: 'cancelled' }).where('batch_id', '=', id),
    )
    expect((await ask('POST', `/batches/${id}/cancel`)).status).toBe(409)
  })

  it('are repeated for their key, with what failed or never ran', async () => {
    const id = await plant('red')
    expect((await ask('POST', `/batches/${id}/retry-failed`)).body.error.code).toBe('batch_not_repeatable')
    const ended = { status: 'expired', failed: 4, expired_at: sql<string>`now()` } as const
    await rowsOf(gateway.sql, queries.updateTable('gateway_batch').set(ended).where('batch_id', '=', id))
    const { status, body } = await ask('POST', `/batches/${id}/retry-failed`)
    expect({ status, of: body.retry_of, is: body.status }).toEqual({ status: 201, of: id, is: 'validating' })
    const [old] = (await ask('GET', `/batches?status=expired`)).body.data
    expect([body.key_id, body.team_id]).toEqual([old.key_id, 'red'])
    const again = await (await gateway.fetch(`/ui/api/batches/${body.id}/files/input`)).text()
    expect(again).toBe(`${[1, 2, 3, 4].map(line).join('\n')}\n`)
    await gateway.idle()
    const events = async () =>
      (await ask('GET', `/audit/events?action=batch.retry&resource_id=${id}`)).body.data as { metadata: object }[]
    await expect.poll(async () => (await events()).length).toBe(2)
    expect((await events())[0]?.metadata).toEqual({ made: body.id })

    // No more than the owner may have; nothing is left of one that was refused.
    const others = await Promise.all([1, 2, 3, 4].map(() => plant('red', ended)))
    const before = await rowsOf(gateway.sql, queries.selectFrom('gateway_file').select('file_id'))
    const more = await Promise.all(others.map((other) => ask('POST', `/batches/${other}/retry-failed`)))
    expect(more.map((answer) => answer.status).toSorted()).toEqual([201, 201, 429, 429])
    const after = await rowsOf(gateway.sql, queries.selectFrom('gateway_file').select('file_id'))
    expect(after.length - before.length).toBe(2)

    const none = await plant('blue', { status: 'completed', failed: 0 })
    expect((await ask('POST', `/batches/${none}/retry-failed`)).body.error.code).toBe('nothing_failed')
  })

  it('are repeated once, however often that is asked for, unless nothing of the repetition has run', async () => {
    const id = await plant('blue', { status: 'expired', failed: 4, expired_at: sql<string>`now()` })
    const repeat = () => ask('POST', `/batches/${id}/retry-failed`)
    const end = (batch: string, values: object) =>
      rowsOf(gateway.sql, queries.updateTable('gateway_batch').set(values).where('batch_id', '=', batch))
    const answers = await Promise.all([repeat(), repeat(), repeat()])
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.id)
    expect(made).toHaveLength(1)
    const refused = answers.find(({ status }) => status === 409)?.body.error
    expect(refused).toMatchObject({ code: 'batch_repeated_before', message: expect.stringContaining(made[0]) })
    await end(made[0], { status: 'failed' })
    const { status, body } = await repeat()
    expect(status).toBe(201)
    await end(body.id, { status: 'completed', completed: 3, failed: 1 })
    expect((await repeat()).status).toBe(409)
  })
})
