import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { s3Endpoint } from '../../support/s3.ts'
import { withBatchTurns } from './support/batch-turns.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const STORAGE = { bucket: 'gateway', region: 'us-east-1', accessKeyId: 'AKIATEST', secretAccessKey: 'a/secret+key' }
const ENDED = ['completed', 'failed', 'expired', 'cancelled']

type Endpoint = '/v1/chat/completions' | '/v1/embeddings'

const line = (url: string, at: number, body: object) =>
  JSON.stringify({ custom_id: `request-${at}`, method: 'POST', url, body: { model: 'm', ...body } })
const messages = (content: string) => [{ role: 'user', content }]
const chats = (count: number) =>
  Array.from({ length: count }, (_, at) => line('/v1/chat/completions', at, { messages: messages(`Number ${at}`) }))

describe.skipIf(!edgeExists())('batches on workerd, by the official client', { timeout: 60_000 }, () => {
  const storage = createServer(getRequestListener(s3Endpoint(STORAGE).fetch))
  let edge: Edge
  let worker: Workerd
  let off: Workerd
  let client: OpenAI

  beforeAll(async () => {
    await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve))
    edge = await startEdge()
    const endpoint = `http://127.0.0.1:${(storage.address() as AddressInfo).port}`
    const yaml = (enabled: boolean) => `general_settings:
  embeddings_batch_enabled: ${enabled}
  blob_storage: { endpoint: '${endpoint}', bucket: gateway, access_key_id: '${STORAGE.accessKeyId}', secret_access_key: '${STORAGE.secretAccessKey}' }
model_list:
  - { model_name: m, gateway_params: { model: echo/m } }
  - { model_name: vectors, gateway_params: { model: openai-compatible/vectors, api_base: '${inject('upstreamUrl')}/v1' } }`
    const modules = await workerModules()
    worker = await startWorkerd(withBatchTurns(withConfig(modules, yaml(true))), edge.variables, { queue: 'taking' })
    off = await startWorkerd(withConfig(modules, yaml(false)), edge.variables)
    client = await clientOf({})
  })
  afterAll(async () => {
    await worker?.stop()
    await off?.stop()
    await edge?.close()
    storage.close()
  })

  const admin = (path: string, init: RequestInit = {}) =>
    fetch(worker.url + path, {
      ...init,
      headers: { authorization: `Bearer ${MASTER_KEY}`, ...(init.headers as Record<string, string>) },
    })
  async function clientOf(fields: object): Promise<OpenAI> {
    const { key } = await (await admin('/ui/api/keys', chatInit(fields))).json()
    return new OpenAI({ apiKey: key, baseURL: `${worker.url}/v1`, maxRetries: 0 })
  }
  const upload = (lines: readonly string[]) =>
    client.files.create({ purpose: 'batch', file: new File([`${lines.join('\n')}\n`], 'requests.jsonl') })
  const create = async (endpoint: string, lines: readonly string[]) =>
    client.batches.create({
      input_file_id: (await upload(lines)).id,
      endpoint: endpoint as Endpoint,
      completion_window: '24h',
    })
  const turn = () => admin('/wake', { method: 'POST' })
  async function ended(id: string): Promise<OpenAI.Batch> {
    for (let turns = 0; turns < 20; turns++) {
      const batch = await client.batches.retrieve(id)
      if (ENDED.includes(batch.status)) return batch
      await turn()
    }
    throw new Error(`the batch ${id} does not end`)
  }
  const linesOf = async (fileId: string | null | undefined) =>
    (await (await client.files.content(fileId ?? '')).text())
      .split('\n')
      .slice(0, -1)
      .map((text) => JSON.parse(text))

  it('run chats, and answer them in the order of the input', async () => {
    const lines = chats(120)
    lines[70] = line('/v1/chat/completions', 70, { messages: 'none' })
    const made = await create('/v1/chat/completions', lines)
    expect(made).toMatchObject({ object: 'batch', status: 'validating', output_file_id: null })
    const batch = await ended(made.id)
    expect(batch).toMatchObject({
      status: 'completed',
      errors: null,
      request_counts: { total: 120, completed: 119, failed: 1 },
    })
    const output = await linesOf(batch.output_file_id)
    const expected = lines.map((_, at) => `request-${at}`).filter((id) => id !== 'request-70')
    expect(output.map(({ custom_id }) => custom_id)).toEqual(expected)
    expect(output[3]).toMatchObject({
      response: { status_code: 200, body: { choices: [{ message: { content: 'Number 3' } }] } },
      error: null,
    })
    expect(await linesOf(batch.error_file_id)).toMatchObject([
      { custom_id: 'request-70', response: { status_code: 400, body: { error: { param: 'messages' } } } },
    ])
    const tokens = output.reduce((sum, { response }) => sum + response.body.usage.total_tokens, 0)
    expect(batch.usage?.total_tokens).toBe(tokens)
  })

  it('run embeddings', async () => {
    const lines = Array.from({ length: 30 }, (_, at) =>
      line('/v1/embeddings', at, { model: 'vectors', input: `text ${at}` }),
    )
    const batch = await ended((await create('/v1/embeddings', lines)).id)
    expect(batch).toMatchObject({ status: 'completed', error_file_id: null, request_counts: { completed: 30 } })
    const output = await linesOf(batch.output_file_id)
    expect(output.map(({ custom_id }) => custom_id)).toEqual(lines.map((_, at) => `request-${at}`))
    for (const { response } of output) expect(response.body.data[0].embedding.length).toBeGreaterThan(0)
  })

  it('run messages, whose errors have the shape of their own API', async () => {
    const good = line('/v1/messages', 0, { max_tokens: 50, messages: messages('Hello') })
    const bad = line('/v1/messages', 1, { max_tokens: 50, messages: 'none' })
    const batch = await ended((await create('/v1/messages', [good, bad])).id)
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 })
    expect(await linesOf(batch.output_file_id)).toMatchObject([
      { custom_id: 'request-0', response: { body: { type: 'message', content: [{ type: 'text', text: 'Hello' }] } } },
    ])
    const [failed] = await linesOf(batch.error_file_id)
    expect(failed).toMatchObject({
      custom_id: 'request-1',
      response: {
        status_code: 400,
        body: {
          type: 'error',
          error: { type: 'invalid_request_error', message: expect.stringContaining('messages') },
        },
      },
    })
  })

  it('fail where the input is wrong, and name the lines', async () => {
    const wrong = line('/v1/chat/completions', 2, { messages: messages('Hi'), stream: true })
    const unknown = JSON.stringify({ ...JSON.parse(chats(1)[0] as string), custom_id: 'u', body: { model: 'none' } })
    const made = await create('/v1/chat/completions', [...chats(1), ...chats(1), '', wrong, '{', unknown])
    const batch = await ended(made.id)
    expect(batch).toMatchObject({ status: 'failed', output_file_id: null, error_file_id: null })
    expect(batch.errors?.data?.map((error) => [error.code, error.line])).toEqual([
      ['duplicate_custom_id', 2],
      ['stream_not_supported', 4],
      ['invalid_json_line', 5],
      ['model_not_found', 6],
    ])
    expect(batch.request_counts).toEqual({ total: 0, completed: 0, failed: 0 })
  })

  it('are cancelled between two turns, and say what was not run', async () => {
    const made = await create('/v1/chat/completions', chats(450))
    await turn()
    const running = await client.batches.retrieve(made.id)
    expect(running).toMatchObject({ status: 'in_progress', request_counts: { total: 450, completed: 200, failed: 0 } })
    expect((await client.batches.cancel(made.id)).status).toBe('cancelling')
    const batch = await ended(made.id)
    expect(batch).toMatchObject({ status: 'cancelled', request_counts: { total: 450, completed: 200, failed: 250 } })
    expect(batch.cancelled_at).toEqual(expect.any(Number))
    const errors = await linesOf(batch.error_file_id)
    expect(errors.every(({ error }) => error.code === 'batch_cancelled')).toBe(true)
    const ids = [...(await linesOf(batch.output_file_id)), ...errors].map(({ custom_id }) => custom_id)
    expect(ids).toEqual(Array.from({ length: 450 }, (_, at) => `request-${at}`))
    await expect(client.batches.cancel(made.id)).rejects.toMatchObject({ status: 409 })
  })

  it('are made once for one Idempotency-Key', async () => {
    const { id } = await upload(chats(1))
    const make = (metadata: Record<string, string>) =>
      client.batches.create(
        { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h', metadata },
        { headers: { 'idempotency-key': 'once' } },
      )
    const [first, again] = [await make({ a: 'b' }), await make({ a: 'b' })]
    expect(again.id).toBe(first.id)
    await expect(make({ a: 'c' })).rejects.toMatchObject({ status: 409 })
    expect((await ended(first.id)).status).toBe('completed')
  })

  it('are found in the list, page after page, and nothing of them by another tenant', async () => {
    for (let more = 0; more < 2; more++) await create('/v1/chat/completions', chats(1))
    const made = await create('/v1/chat/completions', chats(1))
    const batch = await ended(made.id)
    const found: string[] = []
    for await (const { id } of client.batches.list({ limit: 2 })) found.push(id)
    expect(found).toContain(made.id)
    expect(found.length).toBeGreaterThan(2)
    expect(new Set(found).size).toBe(found.length)

    const other = await clientOf({})
    const absent = { status: 404 }
    for (const id of [batch.input_file_id, batch.output_file_id as string]) {
      await expect(other.files.retrieve(id)).rejects.toMatchObject(absent)
      await expect(other.files.content(id)).rejects.toMatchObject(absent)
      await expect(other.files.delete(id)).rejects.toMatchObject(absent)
    }
    await expect(other.batches.retrieve(batch.id)).rejects.toMatchObject(absent)
    await expect(other.batches.cancel(batch.id)).rejects.toMatchObject(absent)
    await expect(other.batches.list({ after: batch.id })).rejects.toMatchObject({ ...absent, param: 'after' })
    await expect(
      other.batches.create({
        input_file_id: batch.input_file_id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      }),
    ).rejects.toMatchObject(absent)
    expect((await other.batches.list()).data).toEqual([])
    expect((await other.files.list()).data).toEqual([])
    expect((await client.files.retrieve(batch.input_file_id)).id).toBe(batch.input_file_id)
  })

  it.each([
    ['POST', '/files'],
    ['GET', '/files'],
    ['GET', '/files/file-a'],
    ['GET', '/files/file-a/content'],
    ['DELETE', '/files/file-a'],
    ['POST', '/batches'],
    ['GET', '/batches'],
    ['GET', '/batches/batch_a'],
    ['POST', '/batches/batch_a/cancel'],
  ])('do not exist where they are off: %s %s', async (method, path) => {
    const ask = async (headers: Record<string, string>) => {
      const response = await fetch(`${off.url}/v1${path}`, { method, headers })
      return [response.status, (await response.json()).error.code]
    }
    expect(await ask({})).toEqual([401, 'missing_api_key'])
    expect(await ask({ authorization: `Bearer ${client.apiKey}` })).toEqual([404, 'batch_disabled'])
  })

  describe('in the administration', () => {
    const asked = async (path: string, init?: RequestInit) => {
      const response = await admin(`/ui/api/batches${path}`, init)
      return { status: response.status, body: await response.json() }
    }

    it('are listed and shown with their requests and files, and repeated where they failed', async () => {
      const lines = [...chats(3), line('/v1/chat/completions', 3, { messages: 'none' })]
      const { id } = await create('/v1/chat/completions', lines)
      await ended(id)
      const { body: list } = await asked('?limit=1')
      expect(list.data).toMatchObject([{ id, status: 'completed', progress: { total: 4, completed: 3, failed: 1 } }])
      expect(await asked(`/${id}`)).toMatchObject({ status: 200, body: { id, oldest_error: { item: 3 } } })
      const { body: items } = await asked(`/${id}/items`)
      expect(items.data.map(({ custom_id }: { custom_id: string }) => custom_id).sort()).toEqual(
        lines.map((_, at) => `request-${at}`),
      )
      for (const [file, count] of [
        ['input', 4],
        ['output', 3],
        ['errors', 1],
      ] as const) {
        const text = await (await admin(`/ui/api/batches/${id}/files/${file}`)).text()
        expect(text.trimEnd().split('\n')).toHaveLength(count)
      }
      const { body: again } = await asked(`/${id}/retry-failed`, { method: 'POST' })
      expect(again).toMatchObject({ status: 'validating', retry_of: id })
      expect((await ended(again.id)).request_counts).toEqual({ total: 1, completed: 0, failed: 1 })
    })

    it('are cancelled', async () => {
      const { id } = await create('/v1/chat/completions', chats(5))
      expect(await asked(`/${id}/cancel`, { method: 'POST' })).toMatchObject({ status: 200, body: { id } })
      expect(await ended(id)).toMatchObject({ status: 'cancelled' })
      expect((await asked(`/${id}/cancel`, { method: 'POST' })).status).toBe(409)
    })
  })
})
