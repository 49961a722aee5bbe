import { beforeEach, describe, expect, inject, it } from 'vitest'
import { jsonLog } from '../../src/lib/log.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { runOnce, scheduledJobs } from '../../src/scheduled.ts'
import { createServices, type Services } from '../../src/services.ts'
import type { DeploymentSignals } from '../../src/stores/kv/deployment-signals.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import { fetchTransport } from '../../src/transport/fetch.ts'
import { keptRecords } from '../support/kept-records.ts'
import { noBlobs, noHasher, noQueue, noSql } from '../support/nothing.ts'
import { answer, badKey, badRequest, serverError, silence } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const OFTEN = 0.02
/** Both runtimes meet at one upstream. */
const run = crypto.randomUUID().slice(0, 8)
let serial = 0
/** The upstream of one test alone: its path there, and its model. */
let place: string
let model: string

beforeEach(() => {
  serial += 1
  model = `checked-${run}-${serial}`
  place = `/health-${run}-${serial}`
})

interface Entry {
  readonly provider?: string
  /** The end of its address. */
  readonly end?: string
  readonly model?: string
  readonly info?: object
}

function gateway(entries: readonly Entry[], options: { every?: number; router?: object; store?: SharedStore } = {}) {
  const { every = OFTEN, router = {}, store = inProcessStore({ now: Date.now }) } = options
  const config = loadConfig(
    JSON.stringify({
      general_settings: { health_check_interval: every },
      router_settings: router,
      model_list: entries.map(({ provider = 'openai-compatible', end = '/v1', model: name = model, info = {} }) => ({
        model_name: 'group',
        deployment_id: name,
        gateway_params: {
          model: `${provider}/${name}`,
          api_base: `${upstream.url}${place}${end}`,
          api_key: 'sk-canary-5',
        },
        model_info: info,
      })),
    }),
    {},
  )
  const { delivery, records } = keptRecords()
  const lines: Record<string, unknown>[] = []
  const services = createServices(config, {
    store,
    sql: noSql,
    blobs: noBlobs,
    queue: noQueue,
    transport: fetchTransport(),
    passwordHasher: noHasher,
    log: jsonLog('info', (line) => void lines.push(JSON.parse(line))),
    counting: 'shared',
    callersKept: 20_000,
    memoryBytes: 256 * 1024 * 1024,
    delivering: () => delivery,
    draining: () => false,
  })
  return Object.assign(services, { records, cooled: () => lines.filter(({ event }) => event === 'deployment.cooled') })
}

/** Checks once, after everybody has been idle for long enough. */
async function check(services: Services): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1000 * OFTEN))
  const signal = new AbortController().signal
  for (const job of healthJobs(services)) await runOnce(services, job, signal)
}

const healthJobs = (services: Services) => scheduledJobs(services).filter(({ name }) => name === 'health-checks')

const signalsOf = async ({ store }: Services) => (await store.signals([model]))[0] as DeploymentSignals
const asked = async () => (await upstream.calls(place)).map((call) => `${call.method} ${call.path}`)
const models = () => `GET ${place}/v1/models`
const question = () => `POST ${place}/v1/chat/completions`

describe('health checks', () => {
  it('are off unless an interval is set', () => {
    expect(healthJobs(gateway([{}], { every: 0 }))).toEqual([])
  })

  it('look at an idle deployment without a cost, and show that it is well', async () => {
    const services = gateway([{}])
    await check(services)
    expect(await asked()).toEqual([models()])
    expect(await signalsOf(services)).toMatchObject({ failures: 0, samples: 0, used: {}, active: 0 })
    expect((await signalsOf(services)).lastSuccessAt).toBeGreaterThan(0)
    await check(services)
    expect(await asked()).toEqual([models(), models()])
  })

  it('wait for as long as is configured, also for no whole number of milliseconds', async () => {
    const services = gateway([{}], { router: { stream_first_token_timeout: 2.01 } })
    await check(services)
    expect(await asked()).toEqual([models()])
  })

  it('send the credential of the deployment', async () => {
    await check(gateway([{}]))
    expect((await upstream.calls(place))[0]?.headers.authorization).toBe('Bearer sk-canary-5')
  })

  it('a look that is refused is followed by the smallest question, which decides', async () => {
    const services = gateway([{}])
    await upstream.script(place, [badKey(), answer()])
    await check(services)
    expect(await asked()).toEqual([models(), question()])
    const sent = JSON.parse(new TextDecoder().decode((await upstream.calls(place))[1]?.body))
    expect(sent).toEqual({ messages: [{ role: 'user', content: 'Hi' }], max_completion_tokens: 16, model })
    expect(await signalsOf(services)).toMatchObject({ failures: 0, lastError: '', samples: 0 })
  })

  it('a dead deployment is cooled before a client meets it, and back when it answers a question again', async () => {
    const services = gateway([{}])
    await upstream.script(place, [serverError()])
    await check(services)
    const dead = await signalsOf(services)
    expect(dead).toMatchObject({ failures: 1, lastError: 'provider_error', used: {} })
    expect(dead.cooledUntil).toBeGreaterThan(Date.now() + 50_000)
    const cooled = { deployment: model, model: 'group', error: 'provider_error', failures: 1 }
    expect(services.cooled()).toMatchObject([{ ...cooled, until: new Date(dead.cooledUntil).toISOString() }])
    await check(services)
    expect(services.cooled()).toHaveLength(1)
    await upstream.script(place, [answer()])
    await check(services)
    expect(await asked()).toEqual([models(), question(), question(), question()])
    expect(await signalsOf(services)).toMatchObject({ failures: 0, cooledUntil: 0, samples: 0 })
  })

  it('a silent one is late', async () => {
    const services = gateway([{}], { router: { stream_first_token_timeout: 0.2 } })
    await upstream.script(place, [silence()])
    const startedAt = Date.now()
    await check(services)
    expect(await signalsOf(services)).toMatchObject({ failures: 1, lastError: 'timeout' })
    expect(Date.now() - startedAt).toBeLessThan(15_000)
  })

  it('an unreachable one is unreachable', async () => {
    const services = gateway([{}])
    const [{ connection } = { connection: undefined }] = services.registry.groups[0]?.deployments ?? []
    Object.assign(connection ?? {}, { origin: 'http://127.0.0.1:9' })
    await check(services)
    expect(await signalsOf(services)).toMatchObject({ failures: 1, lastError: 'connection' })
  })

  it('what rejects the question is neither well nor dead', async () => {
    const services = gateway([{}])
    await upstream.script(place, [badRequest()])
    await check(services)
    expect(await asked()).toEqual([models(), question()])
    expect(await signalsOf(services)).toMatchObject({ failures: 0, lastError: '', lastSuccessAt: 0 })
  })

  it('what a deployment is always asked with, its questions are asked with, but for their limit', async () => {
    await upstream.script(place, [badKey(), answer()])
    await check(gateway([{ info: { default_params: { max_tokens: 9000, user: 'us' } } }]))
    const sent = JSON.parse(new TextDecoder().decode((await upstream.calls(place))[1]?.body))
    expect(sent).toEqual({ user: 'us', messages: [{ role: 'user', content: 'Hi' }], max_completion_tokens: 16, model })
  })

  it('embeddings are asked in their own words', async () => {
    const services = gateway([{ info: { mode: 'embedding' } }])
    await upstream.script(place, [serverError(), answer()])
    await check(services)
    expect(await asked()).toEqual([models(), `POST ${place}/v1/embeddings`])
    expect(await signalsOf(services)).toMatchObject({ failures: 0 })
  })

  it('what speaks is only looked at, and a refused look proves nothing there', async () => {
    const services = gateway([{ provider: 'elevenlabs' }])
    await upstream.script(place, [badKey()])
    await check(services)
    expect(await signalsOf(services)).toMatchObject({ failures: 0, lastSuccessAt: 0 })
    await upstream.script(place, [serverError()])
    await check(services)
    expect(await signalsOf(services)).toMatchObject({ failures: 1, lastError: 'provider_error' })
    await check(services)
    expect(await asked()).toEqual([models(), models()])
  })

  it.each([
    ['anthropic', '/v1/models?limit=1'],
    ['gemini', '/v1beta/models?pageSize=1'],
    ['cohere', '/v1/models?page_size=1'],
    ['deepgram', '/v1/projects'],
  ])('%s is looked at in its own way', async (provider, path) => {
    await upstream.script(place, [answer()])
    await check(gateway([{ provider, end: '' }]))
    expect((await asked())[0]).toBe(`GET ${place}${path}`)
  })

  it('a vendor that lists no models is asked at once', async () => {
    await check(gateway([{ provider: 'cloudflare' }]))
    expect(await asked()).toEqual([question()])
  })

  it('nobody is asked who was heard of, or is being asked', async () => {
    const heard = gateway([{}], { every: 60 })
    const outcome = { attemptId: 'a', deployment: model, used: {}, cooldown: { allowedFails: 0, seconds: 60 } }
    const nothing = { slots: [], budgets: [], counters: {}, entries: [] }
    await heard.store.settle({ ...nothing, callId: 'c', outcomes: [{ ...outcome, result: 'succeeded', latencyMs: 1 }] })
    await check(heard)
    const busy = gateway([{}])
    const candidate = { deployment: model, limits: {} }
    await busy.store.startAttempt({ attemptId: 'b', candidate, leaseSeconds: 60 })
    await check(busy)
    expect(await asked()).toEqual([])
  })

  it('happen once in an interval, over all processes', async () => {
    const store = inProcessStore({ now: Date.now })
    const processes = Array.from({ length: 4 }, () => gateway([{}], { every: 3600, store }))
    await Promise.all(processes.map(check))
    expect(await asked()).toHaveLength(1)
  })

  it('are no calls: nothing is counted of them', async () => {
    const services = gateway([{}])
    await upstream.script(place, [serverError()])
    await check(services)
    expect((await services.measured()).counters).toEqual({})
    expect(services.records).toEqual([])
    expect(await services.store.entries('fallback-events', 10)).toEqual([])
  })

  it('end early when the process does, and blame nobody for it', async () => {
    const services = gateway([{}])
    await upstream.script(place, [silence()])
    const stopping = new AbortController()
    const [job] = healthJobs(services)
    const running = job?.run(stopping.signal)
    await upstream.until(place, (calls) => calls.length === 1)
    stopping.abort()
    await running
    expect(await signalsOf(services)).toMatchObject({ failures: 0, lastError: '' })
  })
})
