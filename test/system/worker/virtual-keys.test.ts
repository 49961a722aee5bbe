import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { answer, json, slowBetween } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const MODEL = `keys-workerd-${randomUUID()}`
const yaml = `
general_settings: { log_level: debug }
model_list:
  - { model_name: echo, gateway_params: { model: echo/echo } }
  - model_name: slow
    gateway_params: { model: openai-compatible/${MODEL}, api_base: '${upstream.url}/v1', api_key: sk-upstream }
  - model_name: image
    gateway_params: { model: openai-compatible/${MODEL}-image, api_base: '${upstream.url}/v1', api_key: sk-upstream }
    model_info: { mode: image_generation, cost_per_image: 0.01 }
`
const messages = [{ role: 'user', content: 'Hello' }]

describe.skipIf(!edgeExists())('on workerd, virtual keys', () => {
  let edge: Edge
  let one: Workerd
  let other: Workerd

  beforeAll(async () => {
    edge = await startEdge()
    const modules = withConfig(await workerModules(), yaml)
    one = await startWorkerd(modules, edge.variables)
    other = await startWorkerd(modules, edge.variables)
    // What an isolate compiles at its first call is no part of what is looked at here.
    for (const worker of [one, other]) expect(await status(chat(worker, MASTER_KEY, {}))).toBe(200)
  })
  afterAll(async () => {
    await Promise.all([one?.stop(), other?.stop()])
    await edge?.close()
  })

  const call = (worker: Workerd, key: string, path: string, init: RequestInit = {}) =>
    fetch(worker.url + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } })
  const chat = (worker: Workerd, key: string, body: object) =>
    call(worker, key, '/v1/chat/completions', chatInit({ model: 'echo', messages, ...body }))
  const admin = async (path: string, init: RequestInit = {}) => {
    const response = await call(one, MASTER_KEY, path, init)
    expect(response.status, `${path} ${await response.clone().text()}`).toBeLessThan(300)
    return (await response.json()) as { key: string; key_id: string }
  }
  /** Again, where this machine was so busy meanwhile that an isolate took its store for away. */
  async function undisturbed<T>(run: () => Promise<T>): Promise<T> {
    const degraded = () => (one.output() + other.output()).split('"store.degraded"').length
    for (let time = 1; ; time++) {
      const before = degraded()
      const result = await run()
      if (degraded() === before || time === 4) return result
      await wait(3000)
    }
  }
  async function status(asked: Promise<Response>): Promise<number> {
    const response = await asked
    await response.arrayBuffer()
    return response.status
  }

  it('count against one limit in all isolates, exactly, and a change holds from the next request of each', async () => {
    const { key, key_id, statuses } = await undisturbed(async () => {
      const made = await admin('/ui/api/keys', chatInit({ rpm_limit: 20 }))
      const asked = Array.from({ length: 60 }, (_, at) => status(chat(at % 2 ? one : other, made.key, {})))
      return { ...made, statuses: await Promise.all(asked) }
    })
    expect(statuses.filter((code) => code === 200)).toHaveLength(20)
    expect(statuses.filter((code) => code === 429)).toHaveLength(40)

    await admin(`/ui/api/keys/${key_id}`, { ...chatInit({ rpm_limit: 22 }), method: 'PATCH' })
    const raised = await chat(other, key, {})
    await raised.arrayBuffer()
    expect([raised.status, raised.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '22'])
    await admin(`/ui/api/keys/${key_id}/revoke`, { method: 'POST' })
    expect(await Promise.all([status(chat(other, key, {})), status(chat(one, key, {}))])).toEqual([401, 401])
  })

  it('work at once where they were unknown a moment ago', async () => {
    const { key, key_id } = await admin('/ui/api/keys', chatInit({}))
    await admin(`/ui/api/keys/${key_id}`, { method: 'DELETE' })
    expect(await status(chat(other, key, {}))).toBe(401)
    const made = await admin('/ui/api/keys', chatInit({}))
    expect(await status(chat(other, made.key, {}))).toBe(200)
    const again = await admin(`/ui/api/keys/${made.key_id}/regenerate`, { method: 'POST' })
    expect(await Promise.all([status(chat(other, made.key, {})), status(chat(other, again.key, {}))])).toEqual([
      401, 200,
    ])
  })

  it('have their slot back when an answer is there, when a stream has ended, and when a client has left', async () => {
    await upstream.script(MODEL, [
      answer({ text: 'One two three four' }, slowBetween({ ms: 50 })),
      answer({ text: 'One two three four five six seven' }, slowBetween({ ms: 300 })),
    ])
    const { key } = await admin('/ui/api/keys', chatInit({ max_parallel_requests: 1 }))
    for (let time = 0; time < 5; time++) expect(await status(chat(time % 2 ? one : other, key, {}))).toBe(200)

    const stream = await chat(one, key, { model: 'slow', stream: true })
    const refused = await chat(other, key, {})
    expect([refused.status, await refused.json()]).toMatchObject([429, { error: { param: 'key_parallel_requests' } }])
    await untilDone(stream)
    expect(await status(chat(other, key, {}))).toBe(200)

    const leaving = new AbortController()
    const left = await call(one, key, '/v1/chat/completions', {
      ...chatInit({ model: 'slow', stream: true, messages }),
      signal: leaving.signal,
    })
    await left.body?.getReader().read()
    leaving.abort()
    const deadline = Date.now() + 15_000
    while ((await status(chat(other, key, {}))) !== 200) expect(Date.now()).toBeLessThan(deadline)
  })

  it('spend no more than their budget, from both isolates at once', async () => {
    await upstream.script(`${MODEL}-image`, Array(160).fill(json(200, { created: 1, data: [{ b64_json: 'AA' }] })))
    const body = { model: 'image', prompt: 'A house' }
    const { key, statuses } = await undisturbed(async () => {
      const made = await admin('/ui/api/keys', chatInit({ max_budget: 0.1 }))
      const asked = Array.from({ length: 40 }, (_, at) =>
        status(call(at % 2 ? one : other, made.key, '/v1/images/generations', chatInit(body))),
      )
      return { ...made, statuses: await Promise.all(asked) }
    })
    expect(statuses.filter((code) => code === 200)).toHaveLength(10)
    expect(statuses.filter((code) => code === 429)).toHaveLength(30)
    const refused = await call(one, key, '/v1/images/generations', chatInit(body))
    expect(await refused.json()).toMatchObject({ error: { type: 'budget_exceeded', param: 'key_budget' } })
  })
})

/** As official clients read: no further than the formal end. */
async function untilDone(response: Response): Promise<void> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  for (let text = ''; !text.includes('[DONE]'); ) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`the stream ends without its end: ${text}`)
    text += decoder.decode(value, { stream: true })
  }
}
