import { readdirSync, readlinkSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { DATABASES } from '../../../support/people-gateways.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'
import { type FileForm, formOf, LINE } from './form.ts'

const MODELS = `
model_list:
  - { model_name: m, gateway_params: { model: echo/m } }`

describe.each(DATABASES)('files, on %s', (_, database) => {
  const gateway = withFullGateway(
    async () =>
      `general_settings: { embeddings_batch_enabled: true, batch_max_file_bytes: 300000, batch_max_line_bytes: 50000, ${await database()} }${MODELS}`,
  )
  const admin = adminApi(() => gateway)
  const keys: Record<string, { readonly id: string; readonly key: string }> = {}

  beforeAll(async () => {
    for (const team of ['red', 'blue']) await admin('POST', '/teams', { team_id: team, team_name: team })
    for (const [name, team] of [
      ['ann', 'red'],
      ['bob', 'red'],
      ['cat', 'blue'],
      ['dan', undefined],
      ['eve', undefined],
    ] as const) {
      const { status, body } = await admin('POST', '/keys', team ? { team_id: team } : {})
      expect(status).toBeLessThan(300)
      keys[name] = { id: body.key_id ?? body.token_id ?? body.id, key: body.key }
    }
  })

  const as = (name: string | undefined) => (name ? { authorization: `Bearer ${keys[name]?.key}` } : {})
  const ask = (name: string | undefined, path: string, init: RequestInit = {}) =>
    gateway.fetch(path, { ...init, headers: { ...as(name), ...(init.headers as Record<string, string>) } })
  const send = (form: FileForm, name?: string) => ask(name, '/v1/files', { method: 'POST', body: formOf(form) })
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  const read = async (response: Response): Promise<any> => ({ status: response.status, ...(await response.json()) })
  const rows = async () =>
    (
      await gateway.sql.query<{ file_id: string; state: string }>({
        sql: 'SELECT file_id, state FROM gateway_file',
        parameters: [],
      })
    ).rows

  it('are asked for by HEAD without anything staying open', async () => {
    const { id } = await read(await send({ file: `${LINE}\n`.repeat(100) }, 'ann'))
    const whole = await ask('ann', `/v1/files/${id}/content`)
    await whole.arrayBuffer()
    for (let times = 0; times < 5; times++) {
      const head = await ask('ann', `/v1/files/${id}/content`, { method: 'HEAD', headers: { range: 'bytes=0-9' } })
      expect([head.status, head.headers.get('content-length')]).toEqual([200, whole.headers.get('content-length')])
      expect(await head.text()).toBe('')
    }
    const open = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).includes(id)
        } catch {
          return false
        }
      })
    await gateway.idle()
    expect(open()).toEqual([])
    await ask('ann', `/v1/files/${id}`, { method: 'DELETE' })
  })

  it('are stored, shown, given and deleted', async () => {
    const before = Math.floor(Date.now() / 1000)
    const content = `\ufeff${LINE}\n\n  \r\n${LINE.replace('"a"', '"ä€😀"')}`
    const made = await read(await send({ file: content, filename: 'größe "1".jsonl' }))
    const bytes = Buffer.byteLength(content)
    expect(made).toEqual({
      status: 'processed',
      id: expect.stringMatching(/^file-[a-z0-9]{24}$/),
      object: 'file',
      bytes,
      created_at: expect.any(Number),
      expires_at: made.created_at + 30 * 86_400,
      filename: 'größe "1".jsonl',
      purpose: 'batch',
      status_details: null,
    })
    expect(made.created_at).toBeGreaterThanOrEqual(before - 1)
    const { status: _, ...same } = made
    expect(await (await ask(undefined, `/v1/files/${made.id}`)).json()).toMatchObject(same)
    const answer = await ask(undefined, `/v1/files/${made.id}/content`)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/jsonl',
      'content-length': String(bytes),
      'content-disposition': `attachment; filename="gr__e _1_.jsonl"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.jsonl`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    })
    expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(content))).toBe(true)
    const row = await gateway.sql.query({
      sql: 'SELECT lines, sha256, state, managed_tools_line FROM gateway_file WHERE file_id = $1',
      parameters: [made.id],
    })
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from(content))
    expect(row.rows).toEqual([
      { lines: 2, sha256: Buffer.from(digest).toString('hex'), state: 'ready', managed_tools_line: null },
    ])
    const deleted = await ask(undefined, `/v1/files/${made.id}`, { method: 'DELETE' })
    expect(await deleted.json()).toEqual({ id: made.id, object: 'file', deleted: true })
    for (const path of ['', '/content']) expect((await ask(undefined, `/v1/files/${made.id}${path}`)).status).toBe(404)
    expect((await ask(undefined, `/v1/files/${made.id}`, { method: 'DELETE' })).status).toBe(404)
    expect(await gateway.blobs.get(`files/${made.id}`)).toBeUndefined()
    expect(await rows()).toEqual([])
  })

  const upload = async (form: FileForm = {}, name?: string): Promise<string> =>
    (await (await send(form, name)).json()).id
  const statusOf = async (name: string | undefined, path: string, method = 'GET') => {
    const response = await ask(name, path, { method })
    const { error } = await response.json()
    return [response.status, error?.code]
  }
  const listed = async (name: string | undefined, query = '') => read(await ask(name, `/v1/files${query}`))
  const NOT_FOUND = [404, 'file_not_found']

  it("are those of the key and of its team, and nobody else's", async () => {
    const [anns, dans] = [await upload({}, 'ann'), await upload({}, 'dan')]
    const seen = async (name: string | undefined) =>
      (await listed(name)).data.map(({ id }: { readonly id: string }) => id)
    expect([await seen('ann'), await seen('bob'), await seen('dan')]).toEqual([[anns], [anns], [dans]])
    for (const name of ['cat', 'eve', undefined]) expect(await seen(name)).toEqual([])
    for (const [id, strangers] of [
      [anns, ['cat', 'dan', 'eve', undefined]],
      [dans, ['ann', 'cat', 'eve', undefined]],
    ] as const) {
      for (const name of strangers) {
        expect(await statusOf(name, `/v1/files/${id}`)).toEqual(NOT_FOUND)
        expect(await statusOf(name, `/v1/files/${id}/content`)).toEqual(NOT_FOUND)
        expect(await statusOf(name, `/v1/files/${id}`, 'DELETE')).toEqual(NOT_FOUND)
        expect((await statusOf(name, `/v1/files?after=${id}`))[0]).toBe(400)
      }
    }
    expect((await ask('bob', `/v1/files/${anns}/content`)).status).toBe(200)
    expect(await statusOf('bob', `/v1/files/${anns}`, 'DELETE')).toEqual([200, undefined])
    expect(await statusOf('dan', `/v1/files/${dans}`, 'DELETE')).toEqual([200, undefined])
  })

  it.each([
    'x',
    'file-',
    'file-A',
    'file-%00',
    'file-%F0',
    'file-..%2F..%2Fetc',
    `file-${'a'.repeat(500)}`,
    'batch_1',
    '%20',
  ])('do not have the id %s', async (id) => {
    expect(await statusOf(undefined, `/v1/files/${id}`)).toEqual(NOT_FOUND)
    expect(await statusOf(undefined, `/v1/files/${id}/content`)).toEqual(NOT_FOUND)
    expect(await statusOf(undefined, `/v1/files/${id}`, 'DELETE')).toEqual(NOT_FOUND)
  })

  it('are listed in pages, in both orders, by purpose', async () => {
    const ids: string[] = []
    for (let count = 0; count < 7; count++) ids.push(await upload({}, 'cat'))
    // Of the same moment, as two uploads can be.
    await gateway.sql.query({
      sql: 'UPDATE gateway_file SET created_at = (SELECT min(created_at) FROM gateway_file) WHERE file_id = ANY($1::text[])',
      parameters: [ids.slice(0, 3)],
    })
    ids.splice(0, 3, ...ids.slice(0, 3).sort())
    for (const [order, expected] of [
      ['asc', ids],
      ['desc', ids.toReversed()],
    ] as const) {
      const found: string[] = []
      for (let after = ''; ; ) {
        const page = await listed('cat', `?order=${order}&limit=3${after && `&after=${after}`}`)
        const of = page.data.map(({ id }: { readonly id: string }) => id)
        found.push(...of)
        expect([page.object, page.first_id, page.last_id]).toEqual(['list', of[0], of.at(-1)])
        expect(page.has_more).toBe(found.length < 7)
        if (!page.has_more) break
        after = page.last_id
      }
      expect(found).toEqual(expected)
    }
    expect((await listed('cat')).data).toHaveLength(7)
    expect((await listed('cat', '?after=')).data).toHaveLength(7)
    expect((await listed('cat', '?purpose=batch')).data).toHaveLength(7)
    expect(await listed('cat', '?purpose=batch_output')).toMatchObject({
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    })
    for (const query of ['limit=0', 'limit=10001', 'limit=x', 'order=up', 'purpose=fine-tune', 'after=file-nobody']) {
      const response = await ask('cat', `/v1/files?${query}`)
      expect([response.status, (await response.json()).error.param]).toEqual([400, query.split('=')[0]])
    }
    for (const id of ids) await ask('cat', `/v1/files/${id}`, { method: 'DELETE' })
  })

  it('are given in ranges', async () => {
    const content = `${LINE}\n`.repeat(2000)
    const id = await upload({ file: content })
    const part = async (range: string) => {
      const response = await ask(undefined, `/v1/files/${id}/content`, { headers: { range } })
      return [response.status, response.headers.get('content-range'), await response.text()]
    }
    const size = content.length
    expect(await part('bytes=0-0')).toEqual([206, `bytes 0-0/${size}`, content[0]])
    expect(await part('bytes=70000-140000')).toEqual([206, `bytes 70000-140000/${size}`, content.slice(70000, 140001)])
    expect(await part(`bytes=${size - 5}-`)).toEqual([206, `bytes ${size - 5}-${size - 1}/${size}`, content.slice(-5)])
    expect(await part(`bytes=5-${size + 100}`)).toEqual([206, `bytes 5-${size - 1}/${size}`, content.slice(5)])
    expect(await part('bytes=-7')).toEqual([206, `bytes ${size - 7}-${size - 1}/${size}`, content.slice(-7)])
    expect(await part(`bytes=-${size + 1}`)).toEqual([206, `bytes 0-${size - 1}/${size}`, content])
    for (const ignored of ['bytes=', 'bytes=-', 'lines=1-2', 'bytes=5-4', 'bytes=0-1,3-4', 'x']) {
      expect(await part(ignored)).toEqual([200, null, content])
    }
    for (const outside of [`bytes=${size}-`, `bytes=${size}-${size + 1}`, 'bytes=-0']) {
      const [status, range, body] = await part(outside)
      expect([status, range]).toEqual([416, `bytes */${size}`])
      expect(JSON.parse(String(body)).error.code).toBe('range_not_satisfiable')
    }
    await ask(undefined, `/v1/files/${id}`, { method: 'DELETE' })
  })

  const batchOf = (fileId: string, status: string) =>
    gateway.sql.query({
      sql: `INSERT INTO gateway_batch (batch_id, endpoint, input_file_id, status, key_id, created_at, expires_at)
        VALUES ($1, '/v1/embeddings', $2, $3, 'master_key', now() - interval '31 days', now())`,
      parameters: [`batch_${fileId}`, fileId, status],
    })

  it('stay while a batch that has not ended reads them', async () => {
    const id = await upload()
    await batchOf(id, 'validating')
    for (const status of ['validating', 'in_progress', 'finalizing', 'cancelling']) {
      await gateway.sql.query({ sql: 'UPDATE gateway_batch SET status = $1', parameters: [status] })
      expect(await statusOf(undefined, `/v1/files/${id}`, 'DELETE')).toEqual([409, 'file_in_use'])
      expect((await ask(undefined, `/v1/files/${id}/content`)).status).toBe(200)
    }
    await gateway.sql.query({ sql: "UPDATE gateway_batch SET status = 'completed'", parameters: [] })
    expect(await statusOf(undefined, `/v1/files/${id}`, 'DELETE')).toEqual([200, undefined])
    await gateway.sql.query({ sql: 'DELETE FROM gateway_batch', parameters: [] })
  })

  it('are deleted once, by however many at once, and a batch is made of them before or not at all', async () => {
    for (let round = 0; round < 10; round++) {
      const input_file_id = await upload()
      const body = JSON.stringify({ input_file_id, endpoint: '/v1/embeddings', completion_window: '24h' })
      const create = ask(undefined, '/v1/batches', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
      const deletions = Array.from({ length: 5 }, () => statusOf(undefined, `/v1/files/${input_file_id}`, 'DELETE'))
      const outcomes = (await Promise.all(deletions)).map(([status]) => status)
      const made = (await create).status === 200
      // A batch may end at once, as one that cannot be validated does.
      if (!made) expect(outcomes.sort()).toEqual([200, 404, 404, 404, 404])
      const [row] = await rows()
      if (made && row)
        expect([row.state, outcomes.filter((status) => status === 409).length > 0]).toEqual(['ready', true])
      await gateway.sql.query({ sql: 'DELETE FROM gateway_batch', parameters: [] })
      await gateway.sql.query({ sql: 'DELETE FROM gateway_file', parameters: [] })
    }
  })

  it('that are being read are given to their end, or not at all, whoever deletes them', async () => {
    const content = `${LINE}\n`.repeat(2500)
    for (let round = 0; round < 10; round++) {
      const id = await upload({ file: content })
      const reading = Array.from({ length: 4 }, async () => {
        const response = await ask(undefined, `/v1/files/${id}/content`)
        return [response.status, response.status === 200 ? (await response.text()) === content : true]
      })
      const deletion = statusOf(undefined, `/v1/files/${id}`, 'DELETE')
      for (const outcome of await Promise.all(reading))
        expect([
          [200, true],
          [404, true],
        ]).toContainEqual(outcome)
      expect(await deletion).toEqual([200, undefined])
    }
  })

  it('are told of in the audit, when they come and when they go', async () => {
    const id = await upload({}, 'dan')
    await statusOf('dan', `/v1/files/${id}`, 'DELETE')
    await statusOf('eve', `/v1/files/${id}`, 'DELETE')
    const query = `?resource_type=file&resource_id=${id}`
    await expect
      .poll(async () => {
        const { body } = await admin('GET', `/audit/events${query}`)
        return body.data.map((event: Record<string, unknown>) => [event.action, event.status, event.actor_id]).sort()
      })
      .toEqual([
        ['file.create', 200, keys.dan?.id],
        ['file.delete', 200, keys.dan?.id],
        ['file.delete', 404, keys.eve?.id],
      ])
  })
})

describe('files, where batches are off', () => {
  const gateway = withFullGateway(MODELS)

  it('are not there, for whoever is known', async () => {
    for (const [method, path] of [
      ['POST', ''],
      ['GET', ''],
      ['GET', '/file-x'],
      ['GET', '/file-x/content'],
      ['DELETE', '/file-x'],
    ] as const) {
      const body = method === 'POST' ? { body: formOf({}) } : {}
      const response = await gateway.fetch(`/v1/files${path}`, { method, ...body })
      expect([response.status, (await response.json()).error.code]).toEqual([404, 'batch_disabled'])
      const unknown = await gateway.fetch(`/v1/files${path}`, {
        method,
        headers: { authorization: 'Bearer sk-nobody' },
      })
      expect(unknown.status).toBe(401)
    }
  })
})
