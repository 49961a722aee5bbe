import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { queries, rowsOf } from '../../../../src/stores/sql/query.ts'
import { type KeyHolder, keepFromWorkers, keyHolder, plantFile } from '../../../support/batches.ts'
import { signedIn } from '../../../support/people.ts'
import { DATABASES } from '../../../support/people-gateways.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

describe.each(DATABASES)('batches for their clients, with %s', (_name, setting) => {
  const gateway = withFullGateway(
    async () => `
general_settings:
  embeddings_batch_enabled: true
  batch_max_active: 5
  file_retention_days: 10
  ${await setting()}
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`,
  )
  let ann: KeyHolder
  let ben: KeyHolder
  let stranger: KeyHolder
  let file: string

  beforeAll(async () => {
    await keepFromWorkers(gateway.sql)
    const post = (path: string, body: object) =>
      gateway.fetch(`/ui/api${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      })
    await post('/organizations', { organization_id: 'acme' })
    await post('/teams', { team_id: 'blue', organization_id: 'acme' })
    ann = await keyHolder(gateway, { team_id: 'blue' })
    ben = await keyHolder(gateway, { team_id: 'blue' })
    stranger = await keyHolder(gateway)
    file = await planted(ann)
  })

  const planted = (holder: KeyHolder, more = {}) =>
    plantFile(
      gateway.sql,
      { key_id: holder.key_id, ...(holder.team_id ? { team_id: holder.team_id, organization_id: 'acme' } : {}) },
      more,
    )
  const create = (holder: KeyHolder, body: object = {}, headers?: Record<string, string>) =>
    holder.ask(
      'POST',
      '/v1/batches',
      { input_file_id: file, endpoint: '/v1/chat/completions', completion_window: '24h', ...body },
      headers,
    )
  const endAll = () =>
    rowsOf(gateway.sql, queries.updateTable('gateway_batch').set({ status: 'completed', completed_at: sql`now()` }))

  it('are answered as OpenAI writes them, with every field', async () => {
    const before = Math.floor(Date.now() / 1000) - 1
    const { status, body } = await create(ann, { metadata: { run: 'nightly' }, unknown: [1] })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^batch_[0-9a-z]{24}$/),
      object: 'batch',
      endpoint: '/v1/chat/completions',
      model: null,
      errors: null,
      input_file_id: file,
      completion_window: '24h',
      status: 'validating',
      output_file_id: null,
      error_file_id: null,
      created_at: expect.any(Number),
      in_progress_at: null,
      expires_at: body.created_at + 86_400,
      finalizing_at: null,
      completed_at: null,
      failed_at: null,
      expired_at: null,
      cancelling_at: null,
      cancelled_at: null,
      request_counts: { total: 0, completed: 0, failed: 0 },
      usage: {
        input_tokens: 0,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 0,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 0,
      },
      metadata: { run: 'nightly' },
    })
    expect(body.created_at).toBeGreaterThanOrEqual(before)
    expect(await ann.ask('GET', `/v1/batches/${body.id}`)).toEqual({ status: 200, body })
    await endAll()
  })

  it.each([
    ['another window', { completion_window: '48h' }, 'completion_window'],
    ['an endpoint that is none', { endpoint: '/v1/images' }, 'endpoint'],
    ['no endpoint', { endpoint: undefined }, 'endpoint'],
    ['no file', { input_file_id: null }, 'input_file_id'],
    ['metadata that are no texts', { metadata: { a: 1 } }, 'metadata.a'],
    ['a long key of metadata', { metadata: { [`${'k'.repeat(65)}`]: 'v' } }, `metadata.${'k'.repeat(65)}`],
    ['a long text of metadata', { metadata: { a: 'v'.repeat(513) } }, 'metadata.a'],
    [
      'files that expire after something else',
      { output_expires_after: { anchor: 'in_progress_at', seconds: 3600 } },
      'output_expires_after.anchor',
    ],
    [
      'files that expire too soon',
      { output_expires_after: { anchor: 'created_at', seconds: 3599 } },
      'output_expires_after.seconds',
    ],
    [
      'files that outlive a month',
      { output_expires_after: { anchor: 'created_at', seconds: 2_592_001 } },
      'output_expires_after.seconds',
    ],
    [
      'files that outlive what the setting says',
      { output_expires_after: { anchor: 'created_at', seconds: 864_001 } },
      'output_expires_after.seconds',
    ],
    ['files without a time', { output_expires_after: { anchor: 'created_at' } }, 'output_expires_after.seconds'],
    [
      'too many metadata',
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, ''])) },
      'metadata',
    ],
  ])('need no %s', async (_case, body, param) => {
    const answer = await create(ann, body)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatchObject({ type: 'invalid_request_error', param })
  })

  it('are another request where their files are kept for another time', async () => {
    const keptFor = (seconds?: number) =>
      create(ann, seconds ? { output_expires_after: { anchor: 'created_at', seconds } } : {}, {
        'idempotency-key': 'kept',
      })
    const { status, body } = await keptFor(7200)
    expect(status).toBe(200)
    expect((await keptFor(7200)).body.id).toBe(body.id)
    for (const other of [await keptFor(), await keptFor(3600)]) expect(other.status).toBe(409)
    await endAll()
  })

  it('take no window as 24h, and keep metadata at their bounds', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [`${at}`.padEnd(64, 'k'), `\0${'v'.repeat(511)}`]),
    )
    for (const completion_window of [undefined, null]) {
      const { status, body } = await create(ann, { completion_window, metadata })
      expect({ status, window: body.completion_window }).toEqual({ status: 200, window: '24h' })
      expect(body.metadata).toEqual(metadata)
    }
    await endAll()
  })

  it('are of files that their owner has, and that are made for them', async () => {
    const refusals = [
      [await planted(stranger), 404, 'file_not_found'],
      ['file-nothing', 404, 'file_not_found'],
      [await planted(ann, { state: 'uploading' }), 404, 'file_not_found'],
      [await planted(ann, { expires_at: new Date(0).toISOString() }), 404, 'file_not_found'],
      [await planted(ann, { purpose: 'batch_output' }), 400, 'invalid_file_purpose'],
      [await planted(ann, { managed_tools_line: 17 }), 400, 'managed_tools_not_supported'],
    ] as const
    for (const [input_file_id, status, code] of refusals) {
      const answer = await create(ann, { input_file_id })
      expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status, code })
      expect(answer.body.error.param).toBe('input_file_id')
      if (code === 'managed_tools_not_supported') expect(answer.body.error.message).toContain('Line 17')
    }
    const { status } = await create(ben)
    expect(status).toBe(200)
    await endAll()
  })

  it('do not exist for another tenant, neither one by one nor in a list', async () => {
    const { body: batch } = await create(ann)
    for (const [method, path] of [
      ['GET', `/v1/batches/${batch.id}`],
      ['POST', `/v1/batches/${batch.id}/cancel`],
      ['GET', `/v1/batches?after=${batch.id}`],
    ] as const) {
      const theirs = await stranger.ask(method, path)
      const absent = await stranger.ask(method, path.replace(batch.id, 'batch_nothing'))
      expect(theirs.status).toBe(404)
      expect(JSON.stringify(theirs.body).replace(batch.id, 'batch_nothing')).toBe(JSON.stringify(absent.body))
    }
    expect((await stranger.ask('GET', '/v1/batches')).body).toEqual({
      object: 'list',
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    })
    expect((await ben.ask('GET', `/v1/batches/${batch.id}`)).status).toBe(200)
    await endAll()
  })

  it('of a team and a key that were removed are not those of others to whom their ids were given', async () => {
    const admin = async (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' }
      const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
      const answer = await gateway.fetch(`/ui/api${path}`, init)
      expect(answer.ok, path).toBe(true)
    }
    const place = { key_id: 'ci', team_id: 'brief' }
    await admin('POST', '/teams', { team_id: 'brief', organization_id: 'acme' })
    const former = await keyHolder(gateway, place)
    const own = await planted(former)
    const { body: batch } = await create(former, { input_file_id: own })
    await admin('DELETE', '/keys/ci')
    await admin('DELETE', '/teams/brief')

    await admin('POST', '/organizations', { organization_id: 'globex' })
    await admin('POST', '/teams', { team_id: 'brief', organization_id: 'globex' })
    const inTeam = await keyHolder(gateway, place)
    const head = await signedIn(gateway, { teams: { brief: 'team_admin' } })
    expect((await inTeam.ask('GET', `/v1/batches/${batch.id}`)).status).toBe(404)
    expect((await inTeam.ask('GET', '/v1/batches')).body.data).toEqual([])
    expect((await inTeam.ask('GET', `/v1/files/${own}`)).status).toBe(404)
    expect((await inTeam.ask('GET', `/v1/files/${own}/content`)).status).toBe(404)
    expect((await inTeam.ask('GET', '/v1/files')).body.data).toEqual([])
    expect((await create(inTeam, { input_file_id: own })).status).toBe(404)
    expect((await head.ask('GET', '/ui/api/batches')).body.data).toEqual([])
    expect((await head.ask('GET', `/ui/api/batches/${batch.id}`)).status).toBe(404)
    await admin('DELETE', '/keys/ci')
    const without = await keyHolder(gateway, { key_id: 'ci', organization_id: 'globex' })
    expect((await without.ask('GET', `/v1/batches/${batch.id}`)).status).toBe(404)
    expect((await without.ask('GET', '/v1/files')).body.data).toEqual([])
    await endAll()
  })

  it('are listed newest first, page after page, those of the team among them', async () => {
    await rowsOf(gateway.sql, queries.deleteFrom('gateway_batch'))
    const ids: string[] = []
    for (const holder of [ann, ben, ann, ben, ann]) ids.unshift((await create(holder)).body.id)
    const found: string[] = []
    let after = ''
    for (;;) {
      const { body } = await ben.ask('GET', `/v1/batches?limit=2${after}`)
      found.push(...body.data.map(({ id }: { id: string }) => id))
      expect(body.first_id).toBe(body.data[0].id)
      after = `&after=${body.last_id}`
      if (!body.has_more) break
    }
    expect(found).toEqual(ids)
    for (const limit of ['0', '101', 'x']) expect((await ben.ask('GET', `/v1/batches?limit=${limit}`)).status).toBe(400)
    await endAll()
  })

  it('are made once for each idempotency key, also after the file is gone or the bound is reached', async () => {
    const own = await planted(ann)
    const body = { input_file_id: own, metadata: { a: '1', b: '2' } }
    const all = await Promise.all(Array.from({ length: 8 }, () => create(ann, body, { 'idempotency-key': 'one' })))
    expect(new Set(all.map((answer) => answer.body.id)).size).toBe(1)
    const [{ body: first }] = all as [KeyAnswer]
    await rowsOf(gateway.sql, queries.deleteFrom('gateway_file').where('file_id', '=', own))
    const again = await create(ann, { ...body, metadata: { b: '2', a: '1' } }, { 'idempotency-key': 'one' })
    expect(again.body.id).toBe(first.id)
    const other = await create(ann, { ...body, metadata: { a: '1' } }, { 'idempotency-key': 'one' })
    expect({ status: other.status, code: other.body.error.code }).toEqual({
      status: 409,
      code: 'idempotency_key_reused',
    })
    // The key is the caller's own: of a colleague it names nothing.
    expect((await create(ben, {}, { 'idempotency-key': 'one' })).body.id).not.toBe(first.id)
    expect((await create(ann, {}, { 'idempotency-key': 'k'.repeat(256) })).status).toBe(400)
    await endAll()
  })

  it('are never more for one owner than allowed, however many are made at once', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => create(at % 2 ? ann : ben)))
    const made = answers.filter(({ status }) => status === 200)
    expect(made).toHaveLength(5)
    for (const { status, body } of answers.filter((answer) => !made.includes(answer))) {
      expect({ status, code: body.error.code }).toEqual({ status: 429, code: 'too_many_active_batches' })
      expect(body.error.message).toContain('5 batches')
    }
    const own = await planted(stranger)
    expect((await create(stranger, { input_file_id: own })).status).toBe(200)
    await endAll()
    expect((await create(ann)).status).toBe(200)
    await endAll()
  })

  it('are cancelled while they can be, once or twice the same', async () => {
    const { body: batch } = await create(ann)
    const first = await ben.ask('POST', `/v1/batches/${batch.id}/cancel`)
    expect(first).toMatchObject({ status: 200, body: { id: batch.id, status: 'cancelling' } })
    expect(first.body.cancelling_at).toEqual(expect.any(Number))
    expect(await ann.ask('POST', `/v1/batches/${batch.id}/cancel`)).toEqual(first)
    for (const status of ['finalizing', 'completed', 'failed', 'expired', 'cancelled'] as const) {
      await rowsOf(gateway.sql, queries.updateTable('gateway_batch').set({ status }).where('batch_id', '=', batch.id))
      const { status: answered, body } = await ann.ask('POST', `/v1/batches/${batch.id}/cancel`)
      expect(answered).toBe(409)
      expect(body.error.message).toBe(`Cannot cancel a batch with status '${status}'.`)
    }
  })

  it('are in the audit, made and cancelled', async () => {
    const { body: batch } = await create(ann)
    await ann.ask('POST', `/v1/batches/${batch.id}/cancel`)
    await gateway.idle()
    const events = async () =>
      (
        (await (await gateway.fetch(`/ui/api/audit/events?resource_id=${batch.id}`)).json()) as {
          data: { action: string; actor_id: string; organization_id: string; status: number }[]
        }
      ).data
    await expect.poll(async () => (await events()).length).toBe(2)
    const told = (await events()).map(({ action, actor_id, organization_id, status }) => [
      action,
      actor_id,
      organization_id,
      status,
    ])
    expect(told).toEqual([
      ['batch.cancel', ann.key_id, 'acme', 200],
      ['batch.create', ann.key_id, 'acme', 200],
    ])
  })
})

type KeyAnswer = Awaited<ReturnType<KeyHolder['ask']>>
