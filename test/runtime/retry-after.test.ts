import { describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../support/configuration.ts'
import { answer, overloaded, rateLimited, serverError, slowBetween, slowHeaders } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const messages = [{ role: 'user', content: 'Count.' }]
const gateway = withGateway()
let serial = 0
let [primary, spare] = ['', '']

async function begin(settings: object, fallback = true): Promise<void> {
  serial += 1
  ;[primary, spare] = ['primary', 'spare'].map((name) => `retry-after-${run}-${serial}-${name}`) as [string, string]
  await gateway.restart(
    configuration({
      router_settings: { num_retries: 2, retry_after: 0.02, ...settings },
      gateway_settings: { fallbacks: fallback ? [{ group: ['spare'] }] : [] },
      model_list: [deployment(upstream.url, 'group', primary), deployment(upstream.url, 'spare', spare)],
    }),
  )
  await upstream.script(spare, [answer({ text: 'fine' })])
}

const asked = async (id: string) => (await upstream.calls(id)).length
const signalsOf = async (id: string) => (await gateway.store.signals([id]))[0]

async function call(more: object = {}) {
  const started = performance.now()
  const response = await gateway.chat({ model: 'group', messages, ...more })
  const told = (await response.json()) as { choices?: { message: { content: string } }[]; error?: { code: string } }
  const took = performance.now() - started
  return { status: response.status, text: told.choices?.[0]?.message.content, code: told.error?.code, took }
}

async function steady(seconds: number, perSecond: number) {
  const calls: ReturnType<typeof call>[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    calls.push(call())
    await new Promise((resolve) => setTimeout(resolve, 1000 / perSecond))
  }
  return Promise.all(calls)
}

describe('a deployment that asks to be left alone for 10 s', () => {
  it('is asked by the first calls alone, and a healthy fallback answers all of them at once', async () => {
    await begin({ cooldown_time: 5 })
    await upstream.script(primary, [rateLimited({ seconds: 10 })])
    const seen = await steady(3, 10)
    expect(seen.length).toBeGreaterThan(8)
    expect(seen.filter(({ text }) => text !== 'fine')).toEqual([])
    expect(seen.map(({ took }) => took).sort((a, b) => a - b)[seen.length >> 1]).toBeLessThan(8000)
    // One, and those that were under way when it failed.
    expect(await asked(primary)).toBeLessThanOrEqual(3)
    const { cooledUntil = 0, lastErrorAt = 0 } = (await signalsOf(primary)) ?? {}
    // As long as it asked, not as long as others are cooled.
    expect(cooledUntil - lastErrorAt).toBe(10_000)
  }, 40_000)

  it('is left alone by others while its own call, without a fallback, waits to ask again', async () => {
    await begin({ cooldown_time: 5 }, false)
    await upstream.script(primary, [rateLimited({ seconds: 4 }), serverError(), answer({ text: 'back' })])
    const first = call()
    await upstream.until(primary, ([one]) => one?.outcome === 'finished')
    await expect.poll(() => signalsOf(primary)).toMatchObject({ failures: 1, active: 0 })
    // The outage of an only deployment has its early probe, and nothing else is asked.
    expect(await call()).toMatchObject({ status: 502 })
    expect(await call()).toMatchObject({ status: 503, code: 'no_healthy_deployment' })
    expect(await asked(primary)).toBe(2)
    expect(await first).toMatchObject({ status: 200, text: 'back' })
    await gateway.idle()
    expect(await signalsOf(primary)).toMatchObject({ failures: 0, cooledUntil: 0, active: 0 })
  })

  it('cools nothing where cooling is off, and the fallback answers all the same', async () => {
    await begin({ cooldown_time: 0 })
    await upstream.script(primary, [overloaded({ seconds: 10 })])
    for (let time = 0; time < 3; time++) {
      const { text, took } = await call()
      expect(text).toBe('fine')
      expect(took).toBeLessThan(8000)
    }
    expect(await asked(primary)).toBe(3)
    expect(await signalsOf(primary)).toMatchObject({ cooledUntil: 0 })
  })

  it('is cooled by failures beyond those that are allowed alone', async () => {
    await begin({ cooldown_time: 5, allowed_fails: 2 })
    await upstream.script(primary, [rateLimited({ seconds: 10 })])
    const cooled: boolean[] = []
    for (let time = 0; time < 4; time++) {
      await call()
      await gateway.idle()
      cooled.push(((await signalsOf(primary))?.cooledUntil ?? 0) > 0)
    }
    expect(cooled).toEqual([false, false, true, true])
    expect(await asked(primary)).toBe(3)
  })

  it.each([
    ['for longer than is sensible', 86_400, 600_000],
    ['for less than the cooldown', 1, 5000],
  ])('%s is left alone as long as is good for all', async (_, seconds, expected) => {
    await begin({ cooldown_time: 5, num_retries: 0 })
    await upstream.script(primary, [rateLimited({ seconds })])
    await call()
    await gateway.idle()
    const { cooledUntil = 0, lastErrorAt = 0 } = (await signalsOf(primary)) ?? {}
    expect(cooledUntil - lastErrorAt).toBe(expected)
  })
})

describe('who is asked next where a deployment wants to be left alone', () => {
  it('is the deployment itself, as soon as it may be, where the fallback would take longer', async () => {
    await begin({ cooldown_time: 0 })
    await upstream.script(spare, [answer({ text: 'slow' }, slowHeaders({ ms: 900 }))])
    expect((await gateway.chat({ model: 'spare', messages })).status).toBe(200)
    await gateway.idle()
    await upstream.script(primary, [rateLimited({ seconds: 0.4 }), answer({ text: 'back' })])
    expect(await call()).toMatchObject({ text: 'back' })
    expect([await asked(primary), await asked(spare)]).toEqual([2, 1])
  })

  it('is the deployment itself where the fallback is cooled, within the time of the call', async () => {
    await begin({ cooldown_time: 30 })
    await upstream.script(spare, [serverError()])
    await gateway.chat({ model: 'spare', messages })
    await gateway.idle()
    const before = await asked(spare)
    await upstream.script(primary, [rateLimited({ seconds: 1.5 }), answer({ text: 'back' })])
    const { text, took } = await call()
    expect(text).toBe('back')
    expect(took).toBeGreaterThan(1400)
    expect([await asked(primary), await asked(spare)]).toEqual([2, before])
  })

  it('is whoever may be asked soonest where the fallback wants to be left alone for longer', async () => {
    await begin({ cooldown_time: 0 })
    await upstream.script(primary, [rateLimited({ seconds: 1.5 }), answer({ text: 'back' })])
    await upstream.script(spare, [rateLimited({ seconds: 30 })])
    const { text, took } = await call()
    expect(text).toBe('back')
    expect(took).toBeLessThan(10_000)
    expect([await asked(primary), await asked(spare)]).toEqual([2, 1])
  })

  it('is nobody where none of them may be asked in the time of the call', async () => {
    await begin({ cooldown_time: 0, timeout: 12, total_timeout: 12 })
    await upstream.script(primary, [rateLimited({ seconds: 60 })])
    await upstream.script(spare, [rateLimited({ seconds: 30 })])
    const { status, code, took } = await call()
    expect([status, code]).toEqual([429, 'upstream_rate_limited'])
    expect(took).toBeLessThan(10_000)
    expect([await asked(primary), await asked(spare)]).toEqual([1, 1])
  })
})

describe('a failure is known to others', () => {
  it('while its call goes on with a long answer of another, or waits to ask again', async () => {
    await begin({ cooldown_time: 30 })
    await upstream.script(primary, [serverError()])
    await upstream.script(spare, [answer({ text: 'one two three four' }, slowBetween({ ms: 700 }))])
    const long = await gateway.chat({ model: 'group', messages, stream: true })
    await expect.poll(() => signalsOf(primary)).toMatchObject({ failures: 3, active: 0 })
    expect((await signalsOf(spare))?.active).toBe(1)
    await long.text()
    await gateway.idle()
    expect(await signalsOf(primary)).toMatchObject({ failures: 3, used: { requests: 3 } })
  })

  it('and so is its recovery, as soon as the answer of a retry begins', async () => {
    await begin({ cooldown_time: 30 }, false)
    const slow = answer({ text: 'one two three four' }, slowBetween({ ms: 700 }))
    await upstream.script(primary, [serverError(), slow])
    const long = await gateway.chat({ model: 'group', messages, stream: true })
    await expect.poll(() => signalsOf(primary)).toMatchObject({ failures: 0, cooledUntil: 0, active: 1 })
    await long.text()
    await gateway.idle()
    expect(await signalsOf(primary)).toMatchObject({ failures: 0, active: 0, samples: 1 })
  })
})
