import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { configOf, MASTER_KEY } from '../../support/gateway.ts'
import { serverError } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { workerModules } from './support/built-once.ts'
import { edgeExists, REDIS_TOKEN, SALT_KEY, startEdge } from './support/edge.ts'
import { type WorkerModules, withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

/** Runs beside the worker and hands it events that do not come over HTTP, as the runtime does. */
const DRIVER = `
import worker from './worker.js'
export default {
  async fetch(request, bindings, execution) {
    const { pathname, searchParams } = new URL(request.url)
    const given = { ...bindings, ...JSON.parse(searchParams.get('given') ?? '{}') }
    if (pathname === '/scheduled') {
      await worker.scheduled({ cron: '* * * * *', scheduledTime: Date.now() }, bindings, execution)
      return Response.json({})
    }
    const settled = {}
    const messages = (await request.json()).map((body, index) => ({
      id: String(index),
      body,
      attempts: 1,
      ack: () => (settled[index] = 'ack'),
      retry: (options) => (settled[index] = options),
    }))
    await worker.queue({ queue: 'gateway-work', messages }, given, execution)
    return Response.json(settled)
  },
}
`

const driven = ({ script, ...rest }: WorkerModules): WorkerModules => ({
  ...rest,
  script: { name: 'driver.js', text: DRIVER },
  beside: [script],
})

describe('events of the worker that are no requests', () => {
  let worker: Workerd
  const told: string[] = []
  /** The far ends of the worker: each request is told of when it comes, and when it is answered. */
  const farEnd = createServer((request, response) => {
    told.push(`${request.url} asked`)
    setTimeout(() => {
      told.push(`${request.url} answered`)
      response.writeHead(request.url === '/hook' ? 204 : 503).end()
    }, 20)
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => farEnd.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(farEnd.address() as AddressInfo).port}`
    const settings = `{ url: '${url}/hook', secret: whsec_${btoa('a secret of twenty-four bytes')} }`
    const yaml = `gateway_settings: { success_callback: [webhook], callback_settings: { webhook: ${settings} } }`
    worker = await startWorkerd(driven(withConfig(await workerModules(), yaml)), {
      // As a file has it.
      REDIS_URL: 'http://127.0.0.1:9\n',
      REDIS_TOKEN,
      DATABASE_URL: 'postgres://gateway@127.0.0.1:9/gateway',
      DATABASE_HTTP_URL: `${url}/sql`,
      GATEWAY_MASTER_KEY: MASTER_KEY,
      GATEWAY_SALT_KEY: SALT_KEY,
    })
  })
  afterAll(async () => {
    await worker?.stop()
    farEnd.close()
  })

  const deliver = async (bodies: unknown[], given: object = {}) => {
    const query = `given=${encodeURIComponent(JSON.stringify(given))}`
    const response = await fetch(`${worker.url}/queue?${query}`, {
      method: 'POST',
      body: JSON.stringify(bodies),
    })
    return [response.status, await response.json()]
  }

  it.each([
    [{ GATEWAY_SALT_KEY: '' }, 'set the secret GATEWAY_SALT_KEY'],
    [{ DATABASE_URL: 'postgres://db.example/gateway' }, 'DATABASE_URL must name a user and a database'],
    [{ DATABASE_URL: 'postgres://me:secret@db.example' }, 'DATABASE_URL must name a user and a database'],
    [{ DATABASE_HTTP_URL: 'nonsense' }, 'DATABASE_HTTP_URL must be an address'],
  ])(
    'a worker with a mistake in its secrets names it and keeps its messages for a later one: %j',
    async (given, told) => {
      const later = { delaySeconds: expect.any(Number) }
      expect(await deliver([{ topic: 'records:ledger', body: {} }], given)).toEqual([200, { 0: later }])
      await expect.poll(() => worker.output()).toContain(told)
    },
  )

  it('an empty batch and a tick of the clock pass', async () => {
    expect(await deliver([])).toEqual([200, {}])
    expect((await fetch(`${worker.url}/scheduled`)).status).toBe(200)
  })

  it('a message that nothing handles comes back later, and takes no other with it', async () => {
    const later = { delaySeconds: expect.any(Number) }
    expect(await deliver([{ topic: 'nobody', body: 1 }, 'not ours'])).toEqual([200, { 0: later, 1: later }])
  })

  it('records are written before far ends are asked, which may hang', async () => {
    const event = { type: 'call.finished', at: '2026-01-01T00:00:00.000Z' }
    const record = { topic: 'records:audit', body: { event_id: 'event-1' } }
    const before = told.length
    expect(await deliver([{ topic: 'sink:webhook', body: { id: 'one', event } }, record])).toEqual([
      200,
      { 0: 'ack', 1: { delaySeconds: expect.any(Number) } },
    ])
    expect(told.slice(before)).toEqual(['/sql asked', '/sql answered', '/hook asked', '/hook answered'])
  })
})

describe.skipIf(!edgeExists())('health checks by the clock of Workers', () => {
  it('ask once an interval, over all isolates, and leave what they learn to all', async () => {
    const upstream = upstreamClient(inject('upstreamUrl'))
    const settings = 'general_settings: { health_check_interval: 3600 }'
    const yaml = configOf(`${upstream.url}/of-cron`, { group: ['cron-well', 'cron-dead'] }, settings)
    await upstream.script('/of-cron', [serverError()])
    const edge = await startEdge()
    const modules = driven(withConfig(await workerModules(), yaml))
    const isolates = await Promise.all([startWorkerd(modules, edge.variables), startWorkerd(modules, edge.variables)])
    try {
      for (const { url } of [...isolates, ...isolates]) expect((await fetch(`${url}/scheduled`)).status).toBe(200)
      const asked = (await upstream.calls('/of-cron')).map(({ method }) => method).sort()
      expect(asked).toEqual(['GET', 'GET', 'POST', 'POST'])
      const signals = await rawSignals(edge.variables.REDIS_URL as string, 'cron-dead')
      expect(signals).toMatchObject({ failures: '1', lastError: 'provider_error' })
    } finally {
      await Promise.all(isolates.map((isolate) => isolate.stop()))
      await edge.close()
    }
  })
})

async function rawSignals(url: string, deployment: string): Promise<object> {
  const body = JSON.stringify(['HGETALL', `gateway:deployment:${deployment}`])
  const headers = { authorization: `Bearer ${REDIS_TOKEN}` }
  const { result } = (await (await fetch(url, { method: 'POST', body, headers })).json()) as { result: string[] }
  return Object.fromEntries(result.flatMap((name, index) => (index % 2 === 0 ? [[name, result[index + 1]]] : [])))
}
