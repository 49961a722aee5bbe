import { beforeAll, describe, expect, it } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { DATABASES } from '../../../support/people-gateways.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const MODELS = `
model_list:
  - { model_name: m, gateway_params: { model: echo/m } }`
const LINE = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/embeddings', body: { model: 'm', input: 'x' } })

interface FileForm {
  readonly file?: string | Uint8Array<ArrayBuffer> | undefined
  readonly filename?: string
  readonly fields?: Readonly<Record<string, string>>
  readonly late?: Readonly<Record<string, string>>
}

function formOf({ file = `${LINE}\n`, filename = 'in.jsonl', fields = { purpose: 'batch' }, late = {} }: FileForm) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new File([file], filename))
  for (const [name, value] of Object.entries(late)) form.append(name, value)
  return form
}

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
})
