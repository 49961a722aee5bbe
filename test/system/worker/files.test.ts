import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../../support/gateway.ts'
import { s3Endpoint } from '../../support/s3.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const MIB = 1024 * 1024
const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'canary/secret+key' }
const storage = s3Endpoint({ bucket: 'gateway', region: 'us-east-1', ...credentials })
const server = createServer(getRequestListener(storage.fetch))
const LINE = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/embeddings', body: { model: 'm', input: 'ä' } })

describe.skipIf(!edgeExists())('on workerd, files', () => {
  let edge: Edge
  let worker: Workerd
  let client: OpenAI

  beforeAll(async () => {
    edge = await startEdge()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const yaml = `general_settings:
  embeddings_batch_enabled: true
  blob_storage: { endpoint: '${endpoint}', bucket: gateway, access_key_id: '${credentials.accessKeyId}', secret_access_key: '${credentials.secretAccessKey}' }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`
    worker = await startWorkerd(withConfig(await workerModules(), yaml), edge.variables)
    client = new OpenAI({ apiKey: MASTER_KEY, baseURL: `${worker.url}/v1`, maxRetries: 0 })
  })
  afterAll(async () => {
    await worker?.stop()
    await edge?.close()
    server.close()
  })
  const content = (text: string, name = 'in.jsonl') => toFile(Buffer.from(text), name)
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${worker.url}/v1/files${path}`, {
      ...init,
      headers: { authorization: `Bearer ${MASTER_KEY}`, ...init.headers },
    })

  it('are made, listed, given and deleted by the official client', async () => {
    const made: string[] = []
    for (let count = 0; count < 5; count++) {
      const file = await client.files.create({ file: await content(`${LINE}\n`), purpose: 'batch' })
      expect(file).toMatchObject({ object: 'file', purpose: 'batch', status: 'processed', filename: 'in.jsonl' })
      made.push(file.id)
    }
    const found: string[] = []
    for await (const file of client.files.list({ limit: 2, order: 'asc' })) found.push(file.id)
    expect(found).toEqual(made)
    expect((await client.files.retrieve(made[0] as string)).bytes).toBe(Buffer.byteLength(LINE) + 1)
    expect(await (await client.files.content(made[0] as string)).text()).toBe(`${LINE}\n`)
    const part = await ask(`/${made[0]}/content`, { headers: { range: 'bytes=1-3' } })
    expect([part.status, await part.text()]).toEqual([206, LINE.slice(1, 4)])
    for (const id of made) expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true })
    await expect(client.files.retrieve(made[0] as string)).rejects.toMatchObject({
      status: 404,
      code: 'file_not_found',
    })
    expect(storage.stored()).toEqual([])
  })

  it('are refused clearly, and leave nothing', async () => {
    for (const [file, words] of [
      ['', /is empty/],
      ['\0', /NUL/],
    ] as const) {
      const refused = client.files.create({ file: await content(file), purpose: 'batch' })
      await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringMatching(words) })
    }
    const other = client.files.create({ file: await content(LINE), purpose: 'fine-tune' })
    await expect(other).rejects.toMatchObject({ status: 400, param: 'purpose' })
    storage.failNext('PUT object', { status: 403, code: 'AccessDenied' })
    const away = client.files.create({ file: await content(LINE), purpose: 'batch' })
    await expect(away).rejects.toMatchObject({ status: 503, code: 'blobs_unavailable' })
    expect([storage.stored(), storage.openUploads()]).toEqual([[], 0])
    expect((await client.files.list()).data).toEqual([])
  })

  it('of 60 MiB pass through, in both directions', {
    timeout: 120_000,
  }, async () => {
    const block = Buffer.from(`${LINE}\n`.repeat(Math.floor(MIB / (Buffer.byteLength(LINE) + 1))))
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="in.jsonl"\r\n\r\n'
    const tail = '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b--\r\n'
    let blocks = 0
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from(head)),
      pull(controller) {
        if (blocks++ < 60) return controller.enqueue(block)
        controller.enqueue(Buffer.from(`\r\n${tail}`))
        controller.close()
      },
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const response = await ask('', { method: 'POST', body, headers, duplex: 'half' } as RequestInit)
    const made = await response.json()
    expect([response.status, made.bytes]).toEqual([200, 60 * block.byteLength])
    let received = 0
    for await (const piece of (await ask(`/${made.id}/content`)).body ?? []) received += piece.byteLength
    expect(received).toBe(made.bytes)
    await client.files.delete(made.id)
  })
})
