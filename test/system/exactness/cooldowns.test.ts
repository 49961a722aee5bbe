import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GatewayProcess } from '../../runtimes/node/gateway-process.ts'
import { deployment } from '../../support/configuration.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { type SinkReceiver, startSinkReceiver } from '../../support/sink-receiver.node.ts'
import { answer, rateLimited, serverError, slowBetween } from '../../support/upstream/index.ts'
import { type Pair, pairExists, startPair } from './pair.ts'

/** What is read of `GET /health/deployments`. */
interface Health {
  readonly deployments: readonly { readonly model_name: string; readonly state: string }[]
}

const messages = [{ role: 'user', content: 'Hello' }]
const COOLDOWN = 2
const WEBHOOK_SECRET = 'whsec_YSB3ZWJob29rIGtleSBvZiB0aGlydHktdHdvIGJ5dGU='

describe.skipIf(!pairExists())('a deployment that is out of rotation, over two processes', () => {
  let pair: Pair
  let upstream: Upstream
  let receiver: SinkReceiver
  const [primary, spare, alone] = ['cooldowns-primary', 'cooldowns-spare', 'cooldowns-alone']

  beforeAll(async () => {
    upstream = await startUpstream()
    receiver = await startSinkReceiver()
    pair = await startPair({
      general_settings: { log_level: 'warn' },
      router_settings: { num_retries: 2, cooldown_time: COOLDOWN },
      gateway_settings: {
        fallbacks: [{ group: ['spare'] }],
        success_callback: ['webhook'],
        callback_settings: { webhook: { url: receiver.url, secret: WEBHOOK_SECRET, events: ['deployment.cooled'] } },
      },
      model_list: [
        deployment(upstream.url, 'group', primary),
        deployment(upstream.url, 'spare', spare),
        deployment(upstream.url, 'alone', alone),
      ],
    })
  })
  afterAll(async () => {
    await pair?.close()
    await upstream?.close()
    await receiver?.close()
  })

  async function ask(at: number, more: object = {}) {
    const started = performance.now()
    const response = await (pair.gateways[at % 2] as GatewayProcess).chat({ model: 'group', messages, ...more })
    await response.arrayBuffer()
    return {
      status: response.status,
      served: response.headers.get('x-gateway-deployment'),
      took: performance.now() - started,
    }
  }

  it('is asked by nobody who comes after the store knows, while it wants to be left alone: 20 calls a second for 5 s', async () => {
    // Longer than the calls may take on a busy machine.
    upstream.script(primary, [rateLimited({ seconds: 120 })])
    const first = await Promise.all(Array.from({ length: 4 }, (_, at) => ask(at)))
    const isCooling = async (gateway: GatewayProcess) => {
      const { deployments } = (await (await gateway.fetch('/health/deployments')).json()) as Health
      return deployments.find(({ model_name: name }) => name === 'group')?.state === 'cooling'
    }
    for (const gateway of pair.gateways) await expect.poll(() => isCooling(gateway), { timeout: 10_000 }).toBe(true)
    const onTheWay = upstream.calls(primary).length
    expect(onTheWay).toBeGreaterThan(0)
    const asking: ReturnType<typeof ask>[] = []
    for (const end = performance.now() + 5000; performance.now() < end; await wait(50)) asking.push(ask(asking.length))
    const later = await Promise.all(asking)
    expect(later.length).toBeGreaterThan(30)
    expect([...first, ...later].filter(({ status, served }) => status !== 200 || served !== spare)).toEqual([])
    expect(upstream.calls(primary)).toHaveLength(onTheWay)
    pair.expectShared()
  }, 90_000)

  it('takes the calls of both as soon as the answer of its probe begins, not when that has ended', async () => {
    const fails = serverError()
    const stream = answer({ text: 'one two three four five six' }, slowBetween({ ms: 1500 }))
    upstream.script(alone, [fails, fails, fails, stream, answer()])
    expect((await ask(0, { model: 'alone' })).status).toBe(502)
    await wait(1000 * COOLDOWN + 100)
    const probe = await pair.gateways[0].chat({ model: 'alone', messages, stream: true })
    const reader = (probe.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    const failures = async () => {
      const [state] = (await pair.raw.command('HMGET', `gateway:deployment:${alone}`, 'failures')) as [string]
      return atob(state)
    }
    // The store is told beside the stream, which lasts for nine seconds.
    await expect.poll(failures, { interval: 5 }).toBe('0')
    const seen = await Promise.all(Array.from({ length: 32 }, (_, at) => ask(at, { model: 'alone' })))
    expect(seen.filter(({ status }) => status !== 200)).toEqual([])
    expect(upstream.calls(alone)[3]?.outcome).toBe('running')
    await reader.cancel()
    expect(upstream.calls(alone)).toHaveLength(36)
    pair.expectShared()
  }, 60_000)

  it('is told of once for each of its cooldowns, by whichever process', async () => {
    upstream.script(alone, [serverError()])
    const heard = () => {
      const told = receiver.received.map(({ body }) => JSON.parse(body.toString()))
      return told.filter(({ data }) => data.deployment === alone)
    }
    const before = heard().length
    for (let cooldown = 1; cooldown <= 2; cooldown++) {
      await Promise.all(Array.from({ length: 8 }, (_, at) => ask(at, { model: 'alone' })))
      await expect.poll(() => heard().length).toBe(before + cooldown)
      await wait(1000 * COOLDOWN + 200)
    }
    expect(heard()).toHaveLength(before + 2)
    expect(heard().at(-1)).toEqual({
      type: 'deployment.cooled',
      timestamp: expect.any(String),
      data: {
        deployment: alone,
        model: 'alone',
        provider: 'openai-compatible',
        error: 'provider_error',
        failures: expect.any(Number),
        until: expect.any(String),
      },
    })
    pair.expectShared()
  }, 60_000)
})
