import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatInit, configOf, MASTER_KEY } from '../../support/gateway.ts'
import { parsePrometheus } from '../../support/prometheus.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import {
  answer,
  frames,
  silence,
  slowBetween,
  slowFirstToken,
  slowHeaders,
  stallAfter,
} from '../../support/upstream/index.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { type RawClient, rawClient } from './support/raw-client.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const models = Array.from({ length: 16 }, (_, index) => `left-${index}`)
const messages = [{ role: 'user', content: 'Hello' }]
/** Not about to end. */
const LONG = answer({ text: 'Hello '.repeat(1000) }, slowBetween({ ms: 60 }))
/** One failure cools a deployment, and a call has retries left: a client that leaves must cause neither. */
const settings = 'router_settings: { allowed_fails: 0, cooldown_time: 60, num_retries: 2, retry_after: 1 }'

describe.skipIf(!edgeExists())('on workerd, a client that leaves', () => {
  let edge: Edge
  let upstream: Upstream
  let worker: Workerd
  let next = 0
  let model: string

  beforeAll(async () => {
    upstream = await startUpstream()
    edge = await startEdge()
    const yaml = configOf(upstream.url, Object.fromEntries(models.map((name) => [name, [name]])), settings)
    worker = await startWorkerd(withConfig(await workerModules(), yaml), edge.variables)
    await fetch(`${worker.url}/health`)
  })
  afterAll(async () => {
    await worker?.stop()
    await edge?.close()
    await upstream?.close()
  })

  const ask = (body: object): RawClient => {
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      'content-type: application/json',
      `authorization: Bearer ${MASTER_KEY}`,
    ]
    return rawClient(worker.port, { head, body: JSON.stringify({ model, messages, ...body }) })
  }
  const metrics = async () => parsePrometheus(await (await fetch(`${worker.url}/metrics`)).text())

  /** The upstream call ended, long before it would have by itself, and the books closed on it. */
  async function expectEnded(count = 1): Promise<void> {
    const calls = await upstream.until(model, (all) => all.every(({ outcome }) => outcome !== 'running'))
    expect(calls).toHaveLength(count)
    for (const call of calls) expect(call.outcome).toBe('client_closed')
    const left = { model, status_code: '499' }
    await expect.poll(async () => (await metrics()).total('gateway_requests_total', left), { interval: 25 }).toBe(count)
    const told = worker
      .output()
      .split('\n')
      .filter((line) => line.includes('"call.finished"') && line.includes(`"${model}"`))
      .map((line) => JSON.parse(line))
    expect(told).toHaveLength(count)
    // What it got is billed: estimated, since the provider had no time to say.
    for (const line of told) expect(line).toMatchObject({ ending: 'client_closed', usage: { estimated: true } })
    const page = await metrics()
    expect(page.value('gateway_deployment_active_requests', { deployment: model })).toBe(0)
    expect(page.value('gateway_deployment_state', { deployment: model })).toBe(0)
    expect(page.value('gateway_deployment_cooldown', { deployment: model })).toBe(0)
    expect(page.total('gateway_requests_total', { model })).toBe(count)
  }

  function fresh(): void {
    model = models[next++] as string
  }

  it.each([
    ['in the middle of a stream', LONG, true, (client: RawClient) => client.until('Hello')],
    [
      'while a stream stalls',
      answer({}, stallAfter({ frames: 4 })),
      true,
      (client: RawClient) => client.until('Hello'),
    ],
    ['before the head of a stream', answer({}, slowHeaders({ ms: 60_000 })), true, undefined],
    ['before the first token', answer({}, slowFirstToken({ ms: 60_000 })), true, undefined],
    ['before the status of a whole answer', silence(), false, undefined],
    ['in the middle of a whole answer', answer({}, stallAfter({ bytes: 40 })), false, undefined],
  ])('%s ends the upstream call, and nothing else', async (_, behaviour, stream, reached) => {
    fresh()
    upstream.script(model, [behaviour, answer({})])
    const client = ask({ stream })
    await upstream.until(model, (calls) => calls.length === 1)
    await (reached?.(client) ?? new Promise((resolve) => setTimeout(resolve, 100)))
    client.reset()
    await expectEnded()
    // The deployment is as good as before.
    const response = await fetch(`${worker.url}/v1/chat/completions`, {
      ...chatInit({ model, messages }),
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-attempts')).toBe('1')
  })

  it('with a plain close is noticed when the next event is written', async () => {
    fresh()
    upstream.script(model, [LONG])
    const client = ask({ stream: true })
    await client.until('Hello')
    client.socket.destroy()
    await expectEnded()
  })

  it('while it does not read ends the upstream call too', async () => {
    fresh()
    const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(65_000) } }] })}\n\n`
    upstream.script(model, [frames(new Array<string>(700).fill(piece))])
    const client = ask({ stream: true })
    await client.until('200 OK')
    client.socket.pause()
    await expect
      .poll(async () => {
        const before = upstream.calls(model)[0]?.bytesSent
        await new Promise((resolve) => setTimeout(resolve, 200))
        return upstream.calls(model)[0]?.bytesSent === before
      })
      .toBe(true)
    client.reset()
    await expectEnded()
  })

  it.each([
    ['with a reset', (client: RawClient) => client.reset()],
    ['with a plain close', (client: RawClient) => client.socket.destroy()],
  ])('%s just before the usage is told is billed what the provider tells', async (_, leave) => {
    fresh()
    const piece = (more: object) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [], ...more })}\n\n`
    const word = piece({ choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] })
    const stop = piece({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    const told = piece({ usage: { prompt_tokens: 1500, completion_tokens: 5000, total_tokens: 6500 } })
    upstream.script(model, [frames([word, stop, told, 'data: [DONE]\n\n'], {}, slowBetween({ ms: 150 }))])
    const client = ask({ stream: true })
    await client.until('Hello')
    leave(client)
    const ended = () =>
      worker
        .output()
        .split('\n')
        .filter((line) => line.includes('"call.finished"') && line.includes(`"${model}"`))
        .map((line) => JSON.parse(line))
    await expect
      .poll(ended)
      .toMatchObject([{ ending: 'client_closed', usage: { inputTokens: 1500, outputTokens: 5000, estimated: false } }])
  })

  it('is not waited for when fifty leave at once', async () => {
    fresh()
    upstream.script(model, [LONG, silence(), answer({}, slowFirstToken({ ms: 60_000 }))])
    const clients = Array.from({ length: 50 }, (_, index) => ask({ stream: index % 2 === 0 }))
    await upstream.until(model, (calls) => calls.length === 50)
    await new Promise((resolve) => setTimeout(resolve, 200))
    for (const client of clients) client.reset()
    await expectEnded(50)
  })
})
