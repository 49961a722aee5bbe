import { describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../support/configuration.ts'
import { readStream, spokenText } from '../support/sse.ts'
import {
  answer,
  type Behaviour,
  badRequest,
  rateLimited,
  serverError,
  silence,
  slowBetween,
  slowFirstToken,
  slowHeaders,
} from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const messages = [{ role: 'user', content: 'Count.' }]
const gateway = withGateway()
let serial = 0
let [first, second, third, spare] = ['', '', '', '']

/** A group of three in this order of preference, and a fallback of one. */
async function begin(settings: object, members = 3): Promise<void> {
  serial += 1
  ;[first, second, third, spare] = ['first', 'second', 'third', 'spare'].map(
    (name) => `hedge-${run}-${serial}-${name}`,
  ) as [string, string, string, string]
  const group = [first, second, third].slice(0, members)
  await gateway.restart(
    configuration({
      router_settings: { routing_strategy: 'priority-based-routing', timeout: 15, retry_after: 0.02, ...settings },
      gateway_settings: { fallbacks: [{ group: ['spare'] }] },
      model_list: [
        ...group.map((id, priority) => deployment(upstream.url, 'group', id, { priority })),
        deployment(upstream.url, 'spare', spare),
      ],
    }),
  )
  for (const id of [first, second, third, spare]) await upstream.script(id, [answer({ text: id })])
}

const asked = async () =>
  Promise.all([first, second, third, spare].map(async (id) => (await upstream.calls(id)).length))

async function ask(streamed: boolean): Promise<{ text: string; by: string | null; attempts: string | null }> {
  const response = await gateway.chat({ model: 'group', messages, ...(streamed ? { stream: true } : {}) })
  const where = {
    by: response.headers.get('x-gateway-deployment'),
    attempts: response.headers.get('x-gateway-attempts'),
  }
  if (streamed) return { text: spokenText(await readStream(response)), ...where }
  const body = (await response.json()) as { choices?: { message: { content: string } }[]; error?: { code: string } }
  return { text: body.choices?.[0]?.message.content ?? body.error?.code ?? '', ...where }
}

const line = () => gateway.logs.findLast(({ event }) => event === 'call.finished')
const slow = (ms: number): Behaviour => answer({ text: 'slow' }, slowHeaders({ ms }))

describe.each([
  ['a stream', true],
  ['a whole answer', false],
] as const)('a second deployment beside a late one, for %s', (_, streamed) => {
  it('answers first, and the late one is ended', async () => {
    await begin({ hedge_after_ms: 100 })
    await upstream.script(first, [slow(60_000)])
    expect(await ask(streamed)).toEqual({ text: second, by: second, attempts: '2' })
    await upstream.until(first, ([call]) => call?.outcome === 'client_closed')
    await gateway.idle()
    expect(await asked()).toEqual([1, 1, 0, 0])
    expect(line()).toMatchObject({
      ending: 'answered',
      deployment: second,
      attempts: 2,
      tried: [
        { deployment: first, result: 'lost_hedge', usage: { outputTokens: 0, estimated: true } },
        { deployment: second, result: 'answered' },
      ],
      usage: { estimated: false },
    })
    const signals = await gateway.store.signals([first, second])
    expect(signals).toMatchObject([
      { failures: 0, active: 0, cooledUntil: 0, samples: 0 },
      { failures: 0, active: 0, samples: 1 },
    ])
    expect(await (await gateway.fetch('/health/fallback-events')).json()).toEqual({ events: [] })
  })

  it('is ended where the late one answers after all, and the answer says who it is from', async () => {
    await begin({ hedge_after_ms: 50 })
    await upstream.script(first, [answer({ text: first }, slowHeaders({ ms: 250 }))])
    await upstream.script(second, [slow(60_000)])
    expect(await ask(streamed)).toEqual({ text: first, by: first, attempts: '2' })
    await upstream.until(second, ([call]) => call?.outcome === 'client_closed')
    await gateway.idle()
    expect(line()).toMatchObject({ deployment: first, tried: [{ result: 'lost_hedge' }, { result: 'answered' }] })
    expect(await gateway.store.signals([second])).toMatchObject([{ failures: 0, active: 0 }])
  })

  it('is not asked where the answer is in time, nor where the setting is off', async () => {
    await begin({ hedge_after_ms: 10_000 })
    expect(await ask(streamed)).toMatchObject({ by: first, attempts: '1' })
    expect(await asked()).toEqual([1, 0, 0, 0])
    await gateway.close()
    await begin({})
    await upstream.script(first, [answer({ text: first }, slowHeaders({ ms: 300 }))])
    expect(await ask(streamed)).toMatchObject({ by: first, attempts: '1' })
  })

  it('is one: a third is not asked beside them, and the group keeps to its attempts', async () => {
    await begin({ hedge_after_ms: 50 })
    await upstream.script(first, [answer({ text: first }, slowHeaders({ ms: 500 }))])
    await upstream.script(second, [answer({ text: second }, slowHeaders({ ms: 800 }))])
    expect(await ask(streamed)).toMatchObject({ text: first })
    expect(await asked()).toEqual([1, 1, 0, 0])
    await gateway.close()

    await begin({ hedge_after_ms: 50, num_retries: 1, cooldown_time: 0 })
    await upstream.script(first, [{ ...serverError(), changes: [slowHeaders({ ms: 150 })] }])
    await upstream.script(second, [{ ...serverError(), changes: [slowHeaders({ ms: 250 })] }])
    expect(await ask(streamed)).toMatchObject({ text: spare, attempts: '3' })
    expect(await asked()).toEqual([1, 1, 0, 1])
  })

  it('answers where the first fails meanwhile, as a failover does', async () => {
    await begin({ hedge_after_ms: 50 })
    await upstream.script(first, [{ ...serverError(), changes: [slowHeaders({ ms: 150 })] }])
    await upstream.script(second, [answer({ text: second }, slowHeaders({ ms: 300 }))])
    expect(await ask(streamed)).toMatchObject({ text: second, attempts: '2' })
    await gateway.idle()
    expect((await gateway.store.signals([first, second])).map(({ failures }) => failures)).toEqual([1, 0])
    expect(await (await gateway.fetch('/health/fallback-events')).json()).toMatchObject({ events: [{ success: true }] })
  })

  it('is waited for no more where it fails and the first answers', async () => {
    await begin({ hedge_after_ms: 50 })
    await upstream.script(first, [answer({ text: first }, slowHeaders({ ms: 300 }))])
    await upstream.script(second, [rateLimited()])
    expect(await ask(streamed)).toMatchObject({ text: first, by: first })
    await gateway.idle()
    expect((await gateway.store.signals([first, second])).map(({ failures }) => failures)).toEqual([0, 1])
  })

  it('does not hide that the request itself is wrong', async () => {
    await begin({ hedge_after_ms: 50 })
    await upstream.script(first, [slow(60_000)])
    await upstream.script(second, [badRequest()])
    const response = await gateway.chat({ model: 'group', messages, ...(streamed ? { stream: true } : {}) })
    expect(response.status).toBe(400)
    await response.text()
    await upstream.until(first, ([call]) => call?.outcome === 'client_closed')
  })

  it('is not asked for a client that has left', async () => {
    await begin({ hedge_after_ms: 1500 })
    await upstream.script(first, [silence()])
    const leaving = new AbortController()
    const body = { model: 'group', messages, ...(streamed ? { stream: true } : {}) }
    const call = gateway.chat(body, { signal: leaving.signal }).catch(() => undefined)
    await upstream.until(first, (calls) => calls.length === 1)
    leaving.abort()
    await call
    await gateway.idle()
    await new Promise((resolve) => setTimeout(resolve, 1700))
    expect(await asked()).toEqual([1, 0, 0, 0])
    expect(line()).toMatchObject({ ending: 'client_closed', attempts: 1 })
  })

  it('is not there where the group has one deployment', async () => {
    await begin({ hedge_after_ms: 50 }, 1)
    await upstream.script(first, [answer({ text: first }, slowHeaders({ ms: 200 }))])
    expect(await ask(streamed)).toMatchObject({ text: first, attempts: '1' })
    expect(await asked()).toEqual([1, 0, 0, 0])
  })
})

describe('what a second attempt holds', () => {
  it('is free while the answer of the other still goes on', async () => {
    await begin({ hedge_after_ms: 100 })
    await upstream.script(first, [answer({ text: 'slow' }, slowFirstToken({ ms: 60_000 }))])
    await upstream.script(second, [answer({ text: 'one two three four five' }, slowBetween({ ms: 800 }))])
    const response = await gateway.chat({ model: 'group', messages, stream: true })
    await upstream.until(first, ([call]) => call?.outcome === 'client_closed')
    await expect
      .poll(() => gateway.store.signals([first, second]), { interval: 20 })
      .toMatchObject([{ active: 0 }, { active: 1 }])
    expect(spokenText(await readStream(response))).toBe('one two three four five')
  })

  it('is given back where the other has answered before it is there', async () => {
    await begin({ hedge_after_ms: 50 })
    await upstream.script(first, [answer({ text: first }, slowHeaders({ ms: 200 }))])
    const { store } = gateway
    const { startAttempt } = store
    store.startAttempt = async (start) => {
      const place = await startAttempt(start)
      await new Promise((resolve) => setTimeout(resolve, 400))
      return place
    }
    expect(await ask(false)).toMatchObject({ text: first, attempts: '1' })
    await gateway.idle()
    expect(await store.signals([second])).toMatchObject([{ active: 0 }])
  })
})

describe('hedge: p95', () => {
  it('asks a second one after the time in which most answers began, as soon as enough of them are known', async () => {
    await begin({ hedge: 'p95' })
    await upstream.script(first, [
      ...Array.from({ length: 20 }, () => answer({ text: first }, slowHeaders({ ms: 10 }))),
      slow(60_000),
    ])
    for (let call = 0; call < 20; call++) expect(await ask(false)).toMatchObject({ text: first, attempts: '1' })
    expect(await ask(false)).toMatchObject({ text: second, attempts: '2' })
  })

  it('until then waits for the answer, or for hedge_after_ms', async () => {
    await begin({ hedge: 'p95' })
    await upstream.script(first, [answer({ text: first }, slowHeaders({ ms: 300 }))])
    expect(await ask(true)).toMatchObject({ text: first, attempts: '1' })
    await gateway.close()
    await begin({ hedge: 'p95', hedge_after_ms: 50 })
    await upstream.script(first, [slow(60_000)])
    expect(await ask(true)).toMatchObject({ text: second, attempts: '2' })
  })
})
