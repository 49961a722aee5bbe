import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../../../support/gateway.ts'
import { s3Endpoint } from '../../../support/s3.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'
import { type FileForm, formOf, LINE } from './form.ts'

const LIMIT = 9 * 1024 * 1024
const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'canary/secret+key' }
const storage = s3Endpoint({ bucket: 'gateway', region: 'us-east-1', ...credentials })
const server = createServer(getRequestListener(storage.fetch))
const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

const gateway = withFullGateway(async () => {
  await listening
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return `general_settings:
  embeddings_batch_enabled: true
  batch_max_file_bytes: ${LIMIT}
  file_retention_days: 2
  client_stall_timeout: 1
  blob_storage: { endpoint: '${endpoint}', bucket: gateway, region: us-east-1, access_key_id: '${credentials.accessKeyId}', secret_access_key: '${credentials.secretAccessKey}' }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`
})
afterAll(() => void server.close())

const send = (body: FormData | string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  gateway.fetch('/v1/files', { method: 'POST', body, headers })
const FORM = { 'content-type': 'multipart/form-data; boundary=b' }
const field = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (content: string, name = 'file', more = '; filename="in.jsonl"') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`
const PURPOSE = field('purpose', 'batch')
const END = '--b--\r\n'
const row = async (id: string) =>
  (await gateway.sql.query({ sql: 'SELECT * FROM gateway_file WHERE file_id = $1', parameters: [id] })).rows[0]

/** Nothing is left in the storage and in the table. */
async function nothingIsLeft(): Promise<void> {
  await gateway.idle()
  await expect
    .poll(async () => [
      (await gateway.sql.query({ sql: 'SELECT file_id FROM gateway_file', parameters: [] })).rows,
      storage.stored(),
      storage.openUploads(),
    ])
    .toEqual([[], [], 0])
}

async function refused(response: Response, status: number, param: string | null, words: RegExp): Promise<void> {
  const { error } = await response.json()
  expect([response.status, error.param, error.message]).toEqual([status, param, expect.stringMatching(words)])
}

/** What a client says before it stands still or leaves. */
function begun(text: string, length: number) {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.write(
    `POST /v1/files HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Type: ${FORM['content-type']}\r\nContent-Length: ${length}\r\n\r\n${text}`,
  )
  return socket
}

describe('an upload', () => {
  it.each<readonly [string, FileForm, number, string | null, RegExp]>([
    ['of another purpose', { fields: { purpose: 'fine-tune' } }, 400, 'purpose', /must be 'batch'/],
    ['of what only batches write', { fields: { purpose: 'batch_output' } }, 400, 'purpose', /must be 'batch'/],
    ['of another purpose, said behind the file', { fields: {}, late: { purpose: 'x' } }, 400, 'purpose', /must be/],
    ['without a purpose', { fields: {} }, 400, 'purpose', /is missing/],
    ['of an empty file', { file: '' }, 400, 'file', /is empty/],
    ['of blank lines', { file: '\n \r\n\t\n' }, 400, 'file', /only blank lines/],
    ['of Latin-1', { file: Uint8Array.of(0x7b, 0xe4, 0x7d) }, 400, 'file', /not text in UTF-8/],
    ['of a character that breaks off', { file: Uint8Array.of(0x7b, 0xe2, 0x82) }, 400, 'file', /not text in UTF-8/],
    ['of a NUL', { file: `${LINE}\0` }, 400, 'file', /holds a NUL/],
    [
      'of too many bytes',
      { file: `${LINE}\n`.repeat(LIMIT / LINE.length + 1).slice(0, LIMIT + 1) },
      413,
      'file',
      /larger than/,
    ],
    ['of far too many bytes', { file: ' '.repeat(LIMIT + 200_000) }, 413, null, /larger than/],
    [
      'that expires too late',
      { fields: { purpose: 'batch', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '172801' } },
      400,
      'expires_after[seconds]',
      /3600 to 172800/,
    ],
    ['that expires too soon', { late: { 'expires_after[seconds]': '3599' } }, 400, 'expires_after[seconds]', /3600 to/],
    ['that expires never', { late: { 'expires_after[seconds]': '-1' } }, 400, 'expires_after[seconds]', /whole number/],
    [
      'that expires after something else',
      { late: { 'expires_after[anchor]': 'last_used' } },
      400,
      'expires_after[anchor]',
      /created_at/,
    ],
  ])('%s is refused, and nothing of it stays', async (_, form, status, param, words) => {
    await refused(await send(formOf(form)), status, param, words)
    await nothingIsLeft()
  })

  it.each<readonly [string, string, RegExp]>([
    ['no file', PURPOSE + END, /no file named 'file'/],
    ['a file of another name', PURPOSE + file(LINE, 'data') + END, /not named 'file'/],
    ['two files', PURPOSE + file(LINE) + file(LINE) + END, /more than one file/],
    ['a second file of another name', PURPOSE + file(LINE) + file(LINE, 'b') + END, /more than one file/],
    ['its file as a text', PURPOSE + file(LINE, 'file', '') + END, /no filename/],
    ['a file without a name', PURPOSE + file(LINE, 'file', '; filename=""') + END, /no name/],
    ['two purposes', PURPOSE + PURPOSE + file(LINE) + END, /two fields of the same name/],
    ['no end', PURPOSE + file(LINE), /last boundary is missing/],
    ['no end of its file', PURPOSE + file(LINE).slice(0, -10), /last boundary is missing/],
    ['another boundary', PURPOSE.replaceAll('--b', '--c') + END.replace('--b', '--c'), /boundary/],
    ['much beside its file', PURPOSE + file(LINE) + field('x', 'x'.repeat(70_000)) + END, /without its file/],
    ['much before its file', PURPOSE + field('x', 'x'.repeat(70_000)) + file(LINE) + END, /without its file/],
    ['nothing', '', /boundary/],
  ])('with %s is refused, and nothing of it stays', async (_, body, words) => {
    await refused(await send(body, FORM), 400, null, words)
    await nothingIsLeft()
  })

  it('of another media type, or compressed, is refused', async () => {
    await refused(await send('{}', { 'content-type': 'application/json' }), 415, null, /multipart/)
    await refused(
      await send(PURPOSE + file(LINE) + END, { ...FORM, 'content-encoding': 'gzip' }),
      415,
      null,
      /compress/,
    )
    await nothingIsLeft()
  })

  it('may say what it is behind its file, how long it is kept, and more than is known', async () => {
    const late = {
      purpose: 'batch',
      'expires_after[anchor]': 'created_at',
      'expires_after[seconds]': '7200',
      other: 'x',
    }
    const response = await send(formOf({ fields: {}, late }))
    const made = await response.json()
    expect([response.status, made.expires_at - made.created_at]).toEqual([200, 7200])
    expect(storage.stored()).toEqual([`files/${made.id}`])
    await gateway.fetch(`/v1/files/${made.id}`, { method: 'DELETE' })
    await nothingIsLeft()
  })

  it('may be as long as the limit, and have parts', async () => {
    const content = `${LINE}\n`.repeat(LIMIT / LINE.length + 1).slice(0, LIMIT)
    const made = await (await send(formOf({ file: content }))).json()
    expect(made.bytes).toBe(LIMIT)
    expect(await (await gateway.fetch(`/v1/files/${made.id}/content`)).text()).toBe(content)
    await gateway.fetch(`/v1/files/${made.id}`, { method: 'DELETE' })
    await nothingIsLeft()
  })

  it.each([
    ['as it is', '{"type":"mcp","server":"s"}', 3],
    ['in escapes', '{"type":"m\\u0063\\u0070","server":"s"}', 3],
    ['of the vendor, at an address', '{"type":"mcp","server_url":"https://x"}', null],
    ['as a word of the prompt', '{"type":"function","function":{"name":"mcp"}}', null],
  ])('notes the first line that asks for managed tools: %s', async (_, tool, expected) => {
    const line = `{"custom_id":"b","body":{"tools":[${tool}]}}`
    const made = await (await send(formOf({ file: `${LINE}\n\n${line}\n${line}\n` }))).json()
    expect(await row(made.id)).toMatchObject({ managed_tools_line: expected, lines: 3 })
    await gateway.fetch(`/v1/files/${made.id}`, { method: 'DELETE' })
  })

  it('of a client that leaves, in the file and behind it, leaves nothing', async () => {
    for (const text of [
      PURPOSE + file(LINE).slice(0, -30),
      PURPOSE + file(`${LINE}\n`.repeat(90_000)),
      PURPOSE.slice(0, 20),
    ]) {
      const before = storage.operations.length
      const socket = begun(text, text.length + 1000)
      await new Promise((resolve) => setTimeout(resolve, 300))
      socket.destroy()
      await nothingIsLeft()
      expect(storage.operations.slice(before)).not.toContain('PUT object')
    }
  })

  it('of a client that stands still is ended, and leaves nothing', async () => {
    const socket = begun(PURPOSE + file(LINE).slice(0, -30), 10_000)
    let answer = ''
    for await (const piece of socket) answer += piece
    expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*request_timeout/)
    await nothingIsLeft()
  })

  it.each([
    ['at once', 'PUT object', `${LINE}\n`],
    ['in the middle', 'PUT part', `${LINE}\n`.repeat(LIMIT / (LINE.length + 1))],
    ['at the end', 'POST complete', `${LINE}\n`.repeat(LIMIT / (LINE.length + 1))],
  ])('that the storage does not take, %s, is a clear 503, and nothing of it stays', async (_, operation, content) => {
    storage.failNext(operation, { status: 403, code: 'AccessDenied' })
    const response = await send(formOf({ file: content }))
    expect(response.headers.get('retry-after')).toBe('2')
    const text = await response.text()
    expect([response.status, JSON.parse(text).error.code]).toEqual([503, 'blobs_unavailable'])
    expect(text).not.toMatch(/canary|AccessDenied/)
    await nothingIsLeft()
  })

  it('is given as a clear 503 while the storage is away, and deleted all the same', async () => {
    const { id } = await (await send(formOf({}))).json()
    storage.failNext('GET object', { status: 403, code: 'AccessDenied' })
    const response = await gateway.fetch(`/v1/files/${id}/content`)
    expect([response.status, (await response.json()).error.code]).toEqual([503, 'blobs_unavailable'])
    storage.failNext('DELETE object', { status: 403, code: 'AccessDenied' })
    expect((await gateway.fetch(`/v1/files/${id}`, { method: 'DELETE' })).status).toBe(200)
    expect((await gateway.fetch(`/v1/files/${id}`)).status).toBe(404)
    // The sweep removes the rest.
    expect(await row(id)).toMatchObject({ state: 'removing' })
    expect(storage.stored()).toEqual([`files/${id}`])
  })
})
