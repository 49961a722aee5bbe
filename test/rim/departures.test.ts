import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { configOf, startGateway, type TestGateway } from '../support/gateway.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import { answer, overloaded, silence, slowBetween, slowHeaders, stallAfter } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const messages = [{ role: 'user', content: 'Hello' }]
const LONG = answer({ text: 'word '.repeat(400) }, slowBetween({ ms: 20 }))
const names = Array.from({ length: 12 }, (_, index) => `leaves-${process.pid}-${index}`)

let gateway: TestGateway
let model: string
let serial = 0

beforeAll(async () => {
  // One failure would cool a deployment for a minute.
  const settings = 'router_settings:\n  allowed_fails: 0\n  cooldown_time: 60\n  num_retries: 3\n'
  gateway = await startGateway(
    configOf(upstream.url, Object.fromEntries(names.map((name) => [name, [name]])), settings),
  )
})
afterAll(() => gateway.close())
beforeEach(() => {
  model = names[serial++] as string
})

const finished = () => gateway.logs.filter((line) => line.event === 'call.finished' && line.model === model)

/** A client that asks, gets as far as it is told, and leaves. Resolves when it has left. */
async function asksAndLeaves(
  body: object,
  leavesWhen: (response: Promise<Response>) => Promise<unknown>,
): Promise<void> {
  const leaving = new AbortController()
  const response = gateway.chat({ model, messages, ...body }, { signal: leaving.signal })
  response.catch(() => {})
  await leavesWhen(response)
  leaving.abort()
}

const oncePieceCame = async (response: Promise<Response>) => (await response).body?.getReader().read()
const onceAsked = () => upstream.until(model, (calls) => calls.some(({ outcome }) => outcome === 'running'))

async function left(count: number): Promise<void> {
  await upstream.until(
    model,
    (calls) => calls.length === count && calls.every(({ outcome }) => outcome === 'client_closed'),
    1000,
  )
  await gateway.idle()
}

async function expectNothingLeft(): Promise<void> {
  const metrics = parsePrometheus(await (await gateway.fetch('/metrics')).text())
  const labels = { deployment: model }
  expect(metrics.value('gateway_deployment_active_requests', labels)).toBe(0)
  expect(metrics.value('gateway_deployment_state', labels)).toBe(0)
  expect(metrics.value('gateway_deployment_cooldown', labels)).toBe(0)
}

describe('a client that leaves', () => {
  it.each([
    ['in the middle of a stream', LONG, { stream: true }, oncePieceCame],
    ['while a stream stalls', answer({}, stallAfter({ frames: 4 })), { stream: true }, oncePieceCame],
    ['before the first token', silence(), { stream: true }, onceAsked],
    ['while a whole answer is awaited', answer({}, slowHeaders({ ms: 5000 })), {}, onceAsked],
    ['while a whole answer arrives', answer({}, stallAfter({ bytes: 20 })), {}, onceAsked],
  ])('%s ends the upstream call within a second, once and for all', async (_, behaviour, body, leavesWhen) => {
    await upstream.script(model, [behaviour])
    await asksAndLeaves(body, leavesWhen)
    await left(1)
    expect(finished()).toMatchObject([{ ending: 'client_closed', attempts: 1, usage: { estimated: true } }])
    await expectNothingLeft()
    // The deployment is asked again, at once.
    await upstream.script(model, [answer()])
    expect((await gateway.chat({ model, messages })).status).toBe(200)
  })

  it('pays for what it received, not for the whole answer', async () => {
    await upstream.script(model, [LONG])
    await asksAndLeaves({ stream: true }, async (response) => {
      const reader = (await response).body?.getReader()
      for (let pieces = 0; pieces < 5; pieces++) await reader?.read()
    })
    await left(1)
    const [{ usage }] = finished() as unknown as [{ usage: { outputTokens: number } }]
    expect(usage.outputTokens).toBeGreaterThan(0)
    expect(usage.outputTokens).toBeLessThan(200)
  })

  it('out of a pause between attempts has no further attempt made for it, and pays nothing', async () => {
    await upstream.script(model, [overloaded({ seconds: 1 }), answer()])
    await asksAndLeaves({}, () => upstream.until(model, ([call]) => call?.outcome === 'finished').then(() => wait(100)))
    await gateway.idle()
    await wait(1300)
    expect(await upstream.calls(model)).toHaveLength(1)
    expect(finished()).toMatchObject([{ ending: 'client_closed', attempts: 1 }])
    expect(finished()[0]?.usage).toBeUndefined()
  })

  it('a hundred times leaves nothing behind', async () => {
    const stalls = answer({}, stallAfter({ frames: 4 }))
    await upstream.script(model, [stalls, silence(), answer({}, slowHeaders({ ms: 5000 })), stalls])
    const allAsked = upstream.until(model, (calls) => calls.length === 100, 15_000)
    const leaves = (_: unknown, index: number) =>
      asksAndLeaves({ stream: index % 3 !== 0 }, () => allAsked.then(() => wait(index % 20)))
    await Promise.all(Array.from({ length: 100 }, leaves))
    await left(100)
    expect(finished()).toHaveLength(100)
    for (const line of finished()) expect(line).toMatchObject({ ending: 'client_closed', usage: { estimated: true } })
    await expectNothingLeft()
  })
})
