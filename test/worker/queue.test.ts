import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../support/gateway.ts'
import { REDIS_TOKEN, SALT_KEY } from './support/edge.ts'
import { type WorkerModules, workerModules } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

/** Runs beside the worker and hands it events that do not come over HTTP, as the runtime does. */
const DRIVER = `
import worker from './worker.js'
export default {
  async fetch(request, bindings, execution) {
    const { pathname } = new URL(request.url)
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
    await worker.queue({ queue: 'gateway-work', messages }, bindings, execution)
    return Response.json(settled)
  },
}
`

describe('events of the worker that are no requests', () => {
  let worker: Workerd

  beforeAll(async () => {
    const { script, ...rest } = await workerModules()
    const driven: WorkerModules = { ...rest, script: { name: 'driver.js', text: DRIVER }, beside: [script] }
    worker = await startWorkerd(driven, {
      REDIS_URL: 'http://127.0.0.1:9',
      REDIS_TOKEN,
      DATABASE_URL: 'postgres://gateway@127.0.0.1:9/gateway',
      GATEWAY_MASTER_KEY: MASTER_KEY,
      GATEWAY_SALT_KEY: SALT_KEY,
    })
  })
  afterAll(() => worker?.stop())

  const deliver = async (bodies: unknown[]) => {
    const response = await fetch(`${worker.url}/queue`, { method: 'POST', body: JSON.stringify(bodies) })
    return [response.status, await response.json()]
  }

  it('an empty batch and a tick of the clock pass', async () => {
    expect(await deliver([])).toEqual([200, {}])
    expect((await fetch(`${worker.url}/scheduled`)).status).toBe(200)
  })

  it('a message that nothing handles comes back later, and takes no other with it', async () => {
    const later = { delaySeconds: expect.any(Number) }
    expect(await deliver([{ topic: 'nobody', body: 1 }, 'not ours'])).toEqual([200, { 0: later, 1: later }])
  })
})
