import { describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../support/configuration.ts'
import { answer, serverError, silence, slowBetween, slowHeaders } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const messages = [{ role: 'user', content: 'Count.' }]
const body = { model: 'group', messages }
const gateway = withGateway()
let serial = 0
let [primary, second, spare] = ['', '', '']

type Layout = 'alone' | 'beside another' | 'before a fallback'

async function begin(layout: Layout, settings: object): Promise<void> {
  serial += 1
  ;[primary, second, spare] = ['primary', 'second', 'spare'].map((name) => `outage-${run}-${serial}-${name}`) as [
    string,
    string,
    string,
  ]
  await gateway.restart(
    configuration({
      router_settings: { routing_strategy: 'priority-based-routing', timeout: 5, ...settings },
      gateway_settings: { fallbacks: layout === 'before a fallback' ? [{ group: ['spare'] }] : [] },
      model_list: [
        deployment(upstream.url, 'group', primary, { priority: 0 }),
        ...(layout === 'beside another' ? [deployment(upstream.url, 'group', second, { priority: 1 })] : []),
        ...(layout === 'before a fallback' ? [deployment(upstream.url, 'spare', spare)] : []),
      ],
    }),
  )
  for (const id of [second, spare]) await upstream.script(id, [answer({ text: 'fine' })])
}

const asked = async (id: string) => (await upstream.calls(id)).length

interface Seen {
  readonly status: number
  readonly text: string | undefined
  readonly code: string | undefined
  readonly retryAfter: number
  readonly took: number
}

async function call(more: object = {}): Promise<Seen> {
  const started = performance.now()
  const response = await gateway.chat({ ...body, ...more })
  const told = (await response.json()) as { choices?: { message: { content: string } }[]; error?: { code: string } }
  const took = performance.now() - started
  const retryAfter = Number(response.headers.get('retry-after'))
  return { status: response.status, text: told.choices?.[0]?.message.content, code: told.error?.code, retryAfter, took }
}

/** So many clients, each with one call after the other; and for how many seconds. */
async function steady(seconds: number, clients: number): Promise<{ seen: Seen[]; seconds: number }> {
  const seen: Seen[] = []
  const begun = performance.now()
  const elapsed = () => (performance.now() - begun) / 1000
  const client = async () => {
    while (elapsed() < seconds) {
      seen.push(await call())
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { seen, seconds: elapsed() }
}

const SECONDS = 6
const COOLDOWN = 1
const ALLOWED = 2
const CLIENTS = 3
/** What a deployment may be asked in so many seconds: until it is cooled, by those that are under way then, by a probe for
 *  each cooldown. */
const mostIn = (seconds: number) => ALLOWED + 1 + (CLIENTS - 1) + seconds / COOLDOWN
/** And what it is asked at least, on a machine that stands still for a while. */
const LEAST = ALLOWED + 1 + 2
const dead = { ...serverError(), changes: [slowHeaders({ ms: 60 })] }

describe('an outage of 6 s', () => {
  it.each(['beside another', 'before a fallback'] as const)(
    'shows a dead primary %s its allowed failures, the calls in flight, and one probe for each cooldown',
    async (layout) => {
      await begin(layout, { allowed_fails: ALLOWED, cooldown_time: COOLDOWN })
      await upstream.script(primary, [dead])
      const { seen, seconds } = await steady(SECONDS, CLIENTS)
      expect(seen.length).toBeGreaterThan(20)
      const failed = seen.filter(({ text }) => text !== 'fine')
      // Without retries those before the cooldown and the probes are told the truth; a fallback hides even those.
      if (layout === 'before a fallback') expect(failed).toEqual([])
      expect(failed.length).toBeLessThanOrEqual(mostIn(seconds))
      expect(await asked(primary)).toBeLessThanOrEqual(mostIn(seconds))
      expect(await asked(primary)).toBeGreaterThanOrEqual(LEAST)
    },
    30_000,
  )

  it('of everybody is a 503 with Retry-After, at once', async () => {
    await begin('before a fallback', { allowed_fails: ALLOWED, cooldown_time: COOLDOWN })
    await upstream.script(primary, [dead])
    await upstream.script(spare, [dead])
    const { seen, seconds } = await steady(SECONDS, CLIENTS)
    const refused = seen.filter(({ status }) => status === 503)
    expect(refused.length).toBeGreaterThan(seen.length / 2)
    for (const { code, retryAfter } of refused)
      expect({ code, retryAfter }).toEqual({ code: 'no_healthy_deployment', retryAfter: 1 })
    expect(refused.map(({ took }) => took).sort((a, b) => a - b)[refused.length >> 1]).toBeLessThan(500)
    for (const id of [primary, spare]) {
      expect(await asked(id)).toBeLessThanOrEqual(mostIn(seconds))
      expect(await asked(id)).toBeGreaterThanOrEqual(LEAST)
    }
  }, 30_000)
})

describe('an outage', () => {
  it('is known to others while the answer of the fallback still goes on', async () => {
    await begin('before a fallback', { cooldown_time: 30 })
    await upstream.script(primary, [serverError()])
    await upstream.script(spare, [answer({ text: 'one two three four' }, slowBetween({ ms: 150 }))])
    const streams = []
    for (let count = 0; count < 4; count++) {
      streams.push(await gateway.chat({ ...body, stream: true }))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(await asked(primary)).toBe(1)
    for (const stream of streams) expect(await stream.text()).toContain('[DONE]')
  })

  it('that is one failure of the only deployment ends with an early probe', async () => {
    await begin('alone', { cooldown_time: 30 })
    await upstream.script(primary, [serverError(), answer({ text: 'back' })])
    expect(await call()).toMatchObject({ code: 'upstream_failed' })
    await gateway.idle()
    expect(await call()).toMatchObject({ text: 'back' })
    expect(await call()).toMatchObject({ text: 'back' })
  })

  it('of the only deployment of a group ends with a probe', async () => {
    await begin('alone', { cooldown_time: 1.5 })
    await upstream.script(primary, [serverError(), serverError(), serverError(), answer({ text: 'back' })])
    expect(await call()).toMatchObject({ code: 'upstream_failed' })
    await gateway.idle()
    // The early probe of the outage, then silence.
    expect(await call()).toMatchObject({ code: 'upstream_failed' })
    await gateway.idle()
    expect(await call()).toMatchObject({ status: 503, code: 'no_healthy_deployment', retryAfter: 2 })
    await new Promise((resolve) => setTimeout(resolve, 1600))
    // The probe that was due, and no early one behind it.
    expect(await call()).toMatchObject({ code: 'upstream_failed' })
    await gateway.idle()
    expect(await call()).toMatchObject({ status: 503, code: 'no_healthy_deployment' })
    await new Promise((resolve) => setTimeout(resolve, 1600))
    expect(await call()).toMatchObject({ text: 'back' })
    await gateway.idle()
    expect(await call()).toMatchObject({ text: 'back' })
  })

  it('that ends while its probe hangs lets no second call through', async () => {
    await begin('alone', { timeout: 4, cooldown_time: 0.2 })
    await upstream.script(primary, [serverError(), silence()])
    await call()
    await gateway.idle()
    await new Promise((resolve) => setTimeout(resolve, 250))
    const probe = call()
    await upstream.until(primary, (calls) => calls.length === 2)
    expect(await call()).toMatchObject({ status: 503, code: 'no_healthy_deployment' })
    expect(await probe).toMatchObject({ status: 504 })
    expect(await asked(primary)).toBe(2)
  })

  it('leaves a call the retries that it has, also where its first failure cooled the deployment', async () => {
    await begin('alone', { num_retries: 1, retry_after: 0.02, cooldown_time: 30 })
    await upstream.script(primary, [serverError(), answer({ text: 'back' })])
    expect(await call()).toMatchObject({ text: 'back' })
  })
})
