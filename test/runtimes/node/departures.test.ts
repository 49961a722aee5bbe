import { setTimeout as wait } from 'node:timers/promises'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import type { Usage } from '../../../src/modes/usage.ts'
import { configOf } from '../../support/gateway.ts'
import { parsePrometheus } from '../../support/prometheus.ts'
import {
  answer,
  frames,
  overloaded,
  recut,
  silence,
  slowBetween,
  slowHeaders,
  stallAfter,
} from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withGateway } from '../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const messages = [{ role: 'user', content: 'Hello' }]
const LONG = answer({ text: 'word '.repeat(400) }, slowBetween({ ms: 20 }))
const names = Array.from({ length: 24 }, (_, index) => `leaves-${process.pid}-${index}`)

let model: string
let serial = 0

const gateway = withGateway(() => {
  // One failure would cool a deployment for a minute.
  const settings = 'router_settings:\n  allowed_fails: 0\n  cooldown_time: 60\n  num_retries: 3\n'
  return configOf(upstream.url, Object.fromEntries(names.map((name) => [name, [name]])), settings)
})
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

  const piece = (more: object) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], ...more })}\n\n`
  const word = piece({ choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] })
  const stop = piece({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  const told = piece({ usage: { prompt_tokens: 1500, completion_tokens: 5000, total_tokens: 6500 } })

  it.each([
    ['just before the end', 1, 200],
    ['just before the usage', 2, 200],
    ['before the usage of a complete answer', 2, 700],
  ])('%s is billed what its provider told within the second', async (_, only, ms) => {
    await upstream.script(model, [frames([word, stop, told, 'data: [DONE]\n\n'], {}, slowBetween({ ms, only }))])
    const reader = (await gateway.chat({ model, messages, stream: true })).body?.getReader()
    await reader?.read()
    await wait(50)
    await reader?.cancel()
    await gateway.idle()
    expect(finished()).toMatchObject([
      { ending: 'client_closed', usage: { inputTokens: 1500, outputTokens: 5000, estimated: false } },
    ])
  })

  it('while a whole answer arrives is billed what its provider told', async () => {
    const usage = { prompt_tokens: 1500, completion_tokens: 5000, total_tokens: 6500 }
    await upstream.script(model, [answer({ usage }, recut({ at: [20] }), slowBetween({ ms: 200 }))])
    await asksAndLeaves({}, () => onceAsked().then(() => wait(60)))
    await gateway.idle()
    expect(finished()).toMatchObject([{ ending: 'client_closed', usage: { outputTokens: 5000, estimated: false } }])
  })

  it('is billed what such answers usually use, as far as this one has come, and no more than it may', async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 5000, total_tokens: 5020 }
    await upstream.script(model, [answer({ usage }, slowHeaders({ ms: 400 }))])
    for (let call = 0; call < 3; call++) await (await gateway.chat({ model, messages })).text()
    const stalls = frames([word, stop], {}, stallAfter({ frames: 1 }))
    const leavesAfter = async (ms: number, body: object = {}): Promise<number> => {
      await upstream.script(model, [stalls])
      await asksAndLeaves({ stream: true, ...body }, (response) => oncePieceCame(response).then(() => wait(ms)))
      await gateway.idle()
      const { estimated, outputTokens } = (finished().at(-1) as unknown as { usage: Usage }).usage
      expect(estimated).toBe(true)
      return outputTokens
    }
    // It is listened to for a moment more.
    const early = await leavesAfter(0)
    expect(early).toBeGreaterThan(1000)
    expect(early).toBeLessThanOrEqual(5000)
    expect(await leavesAfter(800, { max_tokens: 8000 })).toBe(5000)
    // What is held for a call that nobody limits.
    expect(await leavesAfter(800)).toBe(4096)
    expect(await leavesAfter(800, { max_tokens: 300 })).toBe(300)
  })

  it.each([
    [{}, 1],
    [{ reasoning_effort: 'low' }, 512],
    [{ reasoning_effort: 'high' }, 4096],
    [{ reasoning_effort: 'high', max_tokens: 1000 }, 1000],
    [{ thinking: { type: 'enabled', budget_tokens: 8000 } }, 2000],
    [{ reasoning_effort: '__proto__' }, 1],
  ])('pays for the thoughts that it asked for, where nothing is known of others: %j', async (body, tokens) => {
    await upstream.script(model, [frames([word, stop], {}, stallAfter({ frames: 1 }))])
    await asksAndLeaves({ stream: true, ...body }, oncePieceCame)
    await gateway.idle()
    expect(finished()).toMatchObject([{ usage: { outputTokens: tokens, estimated: true } }])
  })

  it('pays for pictures that it only named', async () => {
    await upstream.script(model, [frames([word, stop], {}, stallAfter({ frames: 1 }))])
    const picture = { type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } }
    const content = [{ type: 'text', text: 'What is this?' }, picture, picture]
    await asksAndLeaves({ stream: true, messages: [{ role: 'user', content }] }, oncePieceCame)
    await gateway.idle()
    const [{ usage }] = finished() as unknown as [{ usage: Usage }]
    expect(usage.inputTokens).toBeGreaterThan(2000)
    expect(usage.inputTokens).toBeLessThan(2200)
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
