import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { workerModules } from './support/built-once.ts'
import { type DevWorker, startDevWorker } from './support/dev-worker.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'

const MIB = 1024 * 1024
const YAML = `general_settings: { embeddings_batch_enabled: true }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`

const request = (at: number) =>
  JSON.stringify({
    custom_id: `request-${at}`,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: `Number ${at}` }] },
  })

describe.skipIf(!edgeExists())('batches with the bucket and the queues of wrangler.toml', { timeout: 60_000 }, () => {
  let edge: Edge
  let worker: DevWorker
  let client: OpenAI

  beforeAll(async () => {
    edge = await startEdge()
    worker = await startDevWorker(edge.variables, withConfig(await workerModules(), YAML))
    const init = chatInit({})
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${MASTER_KEY}` }
    const { key } = await (await fetch(`${worker.url}/ui/api/keys`, { ...init, headers })).json()
    client = new OpenAI({ apiKey: key, baseURL: `${worker.url}/v1`, maxRetries: 0 })
  })
  afterAll(async () => {
    await worker?.stop()
    await edge?.close()
  })

  const upload = (text: string) => client.files.create({ purpose: 'batch', file: new File([text], 'requests.jsonl') })
  const content = (id: string, headers: Record<string, string> = {}) =>
    fetch(`${worker.url}/v1/files/${id}/content`, {
      headers: { authorization: `Bearer ${client.apiKey}`, ...headers },
    })

  it('stores a file in several parts, gives ranges of it, and removes it', async () => {
    const text = `${request(0)}\n`.repeat(Math.ceil((9 * MIB) / (request(0).length + 1)))
    const { id, bytes } = await upload(text)
    expect(bytes).toBe(text.length)
    expect((await (await content(id)).text()) === text).toBe(true)
    // Around the end of the first part.
    const [from, to] = [8 * MIB - 100, 8 * MIB + 99]
    const part = await content(id, { range: `bytes=${from}-${to}` })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes ${from}-${to}/${bytes}`)
    expect(await part.text()).toBe(text.slice(from, to + 1))
    const end = await content(id, { range: 'bytes=-10' })
    expect([end.status, await end.text()]).toEqual([206, text.slice(-10)])
    expect((await content(id, { range: `bytes=${bytes}-` })).status).toBe(416)
    expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true })
    expect((await content(id)).status).toBe(404)
  })

  it('runs a batch that its wake-ups carry over several turns', async () => {
    const lines = Array.from({ length: 250 }, (_, at) => request(at))
    const made = await client.batches.create({
      input_file_id: (await upload(`${lines.join('\n')}\n`)).id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    })
    await expect
      .poll(async () => (await client.batches.retrieve(made.id)).status, { timeout: 40_000, interval: 250 })
      .toBe('completed')
    const batch = await client.batches.retrieve(made.id)
    expect(batch.request_counts).toEqual({ total: 250, completed: 250, failed: 0 })
    const output = (await (await client.files.content(batch.output_file_id as string)).text()).trimEnd().split('\n')
    expect(output.map((line) => JSON.parse(line).custom_id)).toEqual(lines.map((_, at) => `request-${at}`))
  })
})
