import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { LEASE_SECONDS } from '../../../src/pipeline/admit/decide.ts'
import type { GatewayProcess } from '../../runtimes/node/gateway-process.ts'
import { deployment, echo } from '../../support/configuration.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { answer, cutAfter, json, silence, slowBetween, slowHeaders, stallAfter } from '../../support/upstream/index.ts'
import { as, type Pair, pairExists, spread, startPair, statusOf } from './pair.ts'

const messages = [{ role: 'user', content: 'Hello' }]

describe.skipIf(!pairExists())('parallel slots over two processes', () => {
  let pair: Pair
  let upstream: Upstream

  beforeAll(async () => {
    upstream = await startUpstream()
    pair = await startPair({
      general_settings: { log_level: 'warn' },
      router_settings: { cooldown_time: 0 },
      model_list: [echo('echo', 'echo-1'), deployment(upstream.url, 'group', 'slots-upstream')],
    })
  })
  afterEach(() => pair.expectShared())
  afterAll(async () => {
    await pair?.close()
    await upstream?.close()
  })

  const ask = (gateway: GatewayProcess, key: string, body: object, signal?: AbortSignal) =>
    gateway.chat({ messages, ...body }, { headers: as(key), ...(signal ? { signal } : {}) })

  async function keyWith(max_parallel_requests: number): Promise<{ key: string; slots: string }> {
    const { key, ids } = await pair.family({ key: { max_parallel_requests } })
    return { key, slots: `gateway:slots:key:${ids.key}` }
  }
  /** Calls that hold a slot at this moment. */
  const held = async (slots: string) => Number(await pair.raw.command('ZCOUNT', slots, Date.now(), '+inf'))
  const free = (slots: string) => expect.poll(() => held(slots), { interval: 10 }).toBe(0)

  it('of 60 calls at once exactly 5 run beside each other, and the others are told so', async () => {
    const { key, slots } = await keyWith(5)
    upstream.script('slots-upstream', [answer({}, slowHeaders({ ms: 1500 }))])
    const before = upstream.calls('slots-upstream').length
    const answers = await spread(pair, 60, async (gateway) => {
      const response = await ask(gateway, key, { model: 'group' })
      return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() }
    })
    const refused = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(upstream.calls('slots-upstream')).toHaveLength(before + 5)
    expect(refused).toHaveLength(55)
    for (const { retryAfter, body } of refused) {
      expect(retryAfter).toBe('1')
      expect(body).toEqual({
        error: {
          message: "Rate limit exceeded for scope 'key_parallel_requests'",
          type: 'rate_limit_error',
          param: 'key_parallel_requests',
          code: 'key_parallel_requests_exceeded',
        },
      })
    }
    await free(slots)
  })

  it.each([false, true])(
    'who calls again as soon as an answer has ended finds its slot free (stream: %s)',
    async (stream) => {
      const { key } = await keyWith(1)
      for (let call = 0; call < 60; call++) {
        const gateway = pair.gateways[call % 2] as GatewayProcess
        const response = await ask(gateway, key, { model: 'echo', stream })
        expect(response.status, `call ${call}`).toBe(200)
        if (!stream) await response.json()
        else await untilDone(response)
      }
    },
  )

  it('0 blocks, null does not', async () => {
    const { key } = await keyWith(0)
    expect(await statusOf(ask(pair.gateways[0], key, { model: 'echo' }))).toBe(429)
    const { key: unlimited } = await pair.family({ key: { max_parallel_requests: null } })
    const answers = await spread(pair, 20, (gateway) => statusOf(ask(gateway, unlimited, { model: 'echo' })))
    expect(new Set(answers)).toEqual(new Set([200]))
  })

  const endings: [string, Parameters<Upstream['script']>[1], (key: string) => Promise<unknown>][] = [
    ['an answer', [answer()], (key) => statusOf(ask(pair.gateways[0], key, { model: 'group' }))],
    ['a stream', [answer()], (key) => statusOf(ask(pair.gateways[0], key, { model: 'group', stream: true }))],
    [
      'an error of the upstream',
      [json(500, { error: { message: 'no' } })],
      (key) => statusOf(ask(pair.gateways[0], key, { model: 'group' })),
    ],
    [
      'a stream that is cut',
      [answer({}, cutAfter({ frames: 3 }))],
      (key) => statusOf(ask(pair.gateways[0], key, { model: 'group', stream: true })),
    ],
    [
      'a client that leaves while it waits',
      [silence()],
      async (key) => {
        const leaving = new AbortController()
        const asking = ask(pair.gateways[0], key, { model: 'group' }, leaving.signal)
        await wait(150)
        leaving.abort()
        await expect(asking).rejects.toThrow()
      },
    ],
    [
      'a client that leaves in the middle of a stream',
      [answer({}, stallAfter({ frames: 3 }))],
      async (key) => {
        const leaving = new AbortController()
        const response = await ask(pair.gateways[0], key, { model: 'group', stream: true }, leaving.signal)
        await response.body?.getReader().read()
        leaving.abort()
      },
    ],
    [
      'a request that is none',
      [answer()],
      (key) => statusOf(ask(pair.gateways[0], key, { model: 'group', messages: 1 })),
    ],
    ['a model that is none', [answer()], (key) => statusOf(ask(pair.gateways[0], key, { model: 'nobody' }))],
  ]
  it.each(endings)('%s frees its slot at once, everywhere', async (_, behaviours, run) => {
    const { key, slots } = await keyWith(1)
    upstream.script('slots-upstream', behaviours)
    await run(key)
    await free(slots)
    upstream.script('slots-upstream', [answer()])
    expect(await statusOf(ask(pair.gateways[1], key, { model: 'group' }))).toBe(200)
  })

  it('what a killed process held is free when its lease ends, not before', async () => {
    const { key, slots } = await keyWith(1)
    upstream.script('slots-upstream', [answer({}, slowBetween({ ms: 60_000, only: 2 }))])
    const mortal = await pair.another()
    const response = await ask(mortal, key, { model: 'group', stream: true })
    await response.body?.getReader().read()
    expect(await held(slots)).toBe(1)
    mortal.kill('SIGKILL')
    await mortal.ended
    expect(await statusOf(ask(pair.gateways[0], key, { model: 'echo' }))).toBe(429)

    const [, end] = (await pair.raw.command('ZRANGE', slots, 0, -1, 'WITHSCORES')) as [string, string]
    const left = Number(atob(end)) - Date.now()
    expect(left).toBeGreaterThan(1000 * (LEASE_SECONDS - 20))
    expect(left).toBeLessThanOrEqual(1000 * LEASE_SECONDS)
    // The time until then passes here by moving the end.
    const [member] = (await pair.raw.command('ZRANGE', slots, 0, 0)) as [string]
    await pair.raw.command('ZADD', slots, Date.now() - 1, atob(member))
    expect(await statusOf(ask(pair.gateways[1], key, { model: 'echo' }))).toBe(200)
  })

  /** Reads a stream as clients do: what comes behind its formal end is nobody's. */
  async function untilDone(response: Response): Promise<void> {
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of response.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(piece, { stream: true })
      if (text.includes('[DONE]')) return
    }
    throw new Error('a stream without its end')
  }
})
