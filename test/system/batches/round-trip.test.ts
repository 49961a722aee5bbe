import OpenAI from 'openai'
import { beforeAll, describe, expect, it } from 'vitest'
import { queries, rowsOf } from '../../../src/stores/sql/query.ts'
import { type KeyHolder, keyHolder } from '../../support/batches.ts'
import { DATABASES } from '../../support/people-gateways.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

const request = (at: number, body: object = {}) =>
  JSON.stringify({
    custom_id: `request-${at}`,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: `Number ${at}` }], ...body },
  })

describe.each(DATABASES)('a batch by the official client, with %s', (_name, setting) => {
  const gateway = withFullGateway(
    async () => `
general_settings:
  embeddings_batch_enabled: true
  ${await setting()}
model_list:
  - model_name: m
    gateway_params: { model: echo/m }
    model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.001, batch_price_multiplier: 0.5 }`,
  )
  let holder: KeyHolder
  let client: OpenAI

  beforeAll(async () => {
    holder = await keyHolder(gateway)
    client = new OpenAI({ apiKey: holder.key, baseURL: `${gateway.url}/v1` })
  })

  const upload = (lines: readonly string[]) =>
    client.files.create({ purpose: 'batch', file: new File([`${lines.join('\n')}\n`], 'requests.jsonl') })
  const create = async (lines: readonly string[]) =>
    client.batches.create({
      input_file_id: (await upload(lines)).id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    })
  async function ended(id: string): Promise<OpenAI.Batch> {
    const open = ['validating', 'in_progress', 'finalizing', 'cancelling']
    const deadline = Date.now() + 30_000
    for (;;) {
      const batch = await client.batches.retrieve(id)
      if (!open.includes(batch.status)) return batch
      if (Date.now() > deadline) throw new Error(`the batch ${id} stays ${batch.status}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const linesOf = async (fileId: string | null | undefined) =>
    (await (await client.files.content(fileId ?? '')).text())
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))

  it('runs every request once and answers in the order of the input', { timeout: 60_000 }, async () => {
    const lines = Array.from({ length: 150 }, (_, at) => request(at, at === 70 ? { messages: 'none' } : {}))
    const made = await create(lines)
    expect(made).toMatchObject({ object: 'batch', status: 'validating' })
    const batch = await ended(made.id)
    expect(batch).toMatchObject({
      status: 'completed',
      errors: null,
      model: expect.any(String),
      request_counts: { total: 150, completed: 149, failed: 1 },
    })
    const output = await linesOf(batch.output_file_id)
    expect(output.map(({ custom_id }) => custom_id)).toEqual(
      Array.from({ length: 150 }, (_, at) => `request-${at}`).filter((id) => id !== 'request-70'),
    )
    expect(output[3]).toMatchObject({
      response: { status_code: 200, body: { choices: [{ message: { content: 'Number 3' } }] } },
      error: null,
    })
    const [failed, ...others] = await linesOf(batch.error_file_id)
    expect(others).toEqual([])
    expect(failed).toMatchObject({ custom_id: 'request-70', response: { status_code: 400 } })
    const total = output.reduce((sum, { response }) => sum + response.body.usage.total_tokens, 0)
    expect(batch.usage?.total_tokens).toBe(total)
    await gateway.idle()
    const spent = await rowsOf(
      gateway.sql,
      queries.selectFrom('gateway_batch').select('cost_nano').where('batch_id', '=', batch.id),
    )
    expect(Number(spent[0]?.cost_nano)).toBe(total * 500_000)
  })

  it('names what is wrong with the input', async () => {
    const made = await create([request(0), request(0), request(2, { stream: true })])
    const batch = await ended(made.id)
    expect(batch.status).toBe('failed')
    expect(batch.errors?.data?.map(({ code, line }) => [code, line])).toEqual([
      ['duplicate_custom_id', 2],
      ['stream_not_supported', 3],
    ])
    expect(batch.request_counts).toEqual({ total: 0, completed: 0, failed: 0 })
  })

  it('is found in the list, page after page', async () => {
    const made = new Set([(await create([request(0)])).id, (await create([request(0)])).id])
    const found = new Set<string>()
    for await (const { id } of client.batches.list({ limit: 1 })) found.add(id)
    expect(found.size).toBeGreaterThan(2)
    expect(found.isSupersetOf(made)).toBe(true)
    await Promise.all([...made].map(ended))
  })

  it('is cancelled, and says which requests were not run', { timeout: 60_000 }, async () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => request(at))
    const made = await create(lines)
    await expect
      .poll(async () => (await client.batches.retrieve(made.id)).status, { timeout: 20_000 })
      .toBe('in_progress')
    await expect
      .poll(async () => (await client.batches.retrieve(made.id)).request_counts?.completed, { timeout: 20_000 })
      .toBeGreaterThan(0)
    expect((await client.batches.cancel(made.id)).status).toBe('cancelling')
    const batch = await ended(made.id)
    expect(batch.status).toBe('cancelled')
    const { completed = 0, failed = 0, total } = batch.request_counts ?? {}
    expect(completed).toBeGreaterThan(0)
    expect(failed).toBeGreaterThan(0)
    expect(completed + failed).toBe(total)
    const errors = await linesOf(batch.error_file_id)
    const output = await linesOf(batch.output_file_id)
    expect([output.length, errors.length]).toEqual([completed, failed])
    expect(errors.every(({ error }) => error.code === 'batch_cancelled')).toBe(true)
    const ids = [...output, ...errors].map(({ custom_id }) => custom_id)
    expect(new Set(ids).size).toBe(20_000)
  })

  it('ends when it expires, with what was done until then', { timeout: 60_000 }, async () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => request(at))
    const made = await create(lines)
    await expect
      .poll(async () => (await client.batches.retrieve(made.id)).request_counts?.completed, { timeout: 20_000 })
      .toBeGreaterThan(0)
    await rowsOf(
      gateway.sql,
      queries
        .updateTable('gateway_batch')
        .set({ expires_at: new Date(Date.now() - 1000).toISOString() })
        .where('batch_id', '=', made.id),
    )
    const batch = await ended(made.id)
    expect(batch.status).toBe('expired')
    expect(batch.expired_at).toEqual(expect.any(Number))
    const errors = await linesOf(batch.error_file_id)
    expect(errors.at(-1)).toMatchObject({ custom_id: 'request-19999', error: { code: 'batch_expired' } })
    expect((await linesOf(batch.output_file_id)).length + errors.length).toBe(20_000)
  })
})
