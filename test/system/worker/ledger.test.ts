import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { finishedCall } from '../../support/finished-calls.ts'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { workerModules } from './support/built-once.ts'
import { type DevWorker, startDevWorker } from './support/dev-worker.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

/** Runs beside the worker and hands it the messages of a queue, as the runtime does. */
const DRIVER = `
import worker from './worker.js'
export default {
  async fetch(request, bindings, execution) {
    if (new URL(request.url).pathname !== '/queue') return worker.fetch(request, bindings, execution)
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

describe.skipIf(!edgeExists())('the ledger on Workers', () => {
  let edge: Edge
  let database: pg.Client
  let worker: Workerd
  let deployed: DevWorker

  beforeAll(async () => {
    edge = await startEdge()
    const { script, ...modules } = await workerModules()
    const driven = { ...modules, script: { name: 'driver.js', text: DRIVER }, beside: [script] }
    worker = await startWorkerd(driven, edge.variables)
    deployed = await startDevWorker(edge.variables)
    // The first call sets the schema up.
    await (await chat(deployed.url, 'first')).json()
    database = new pg.Client({ connectionString: edge.databaseUrl })
    await database.connect()
  })
  afterAll(async () => {
    await database?.end()
    await worker?.stop()
    await deployed?.stop()
    await edge?.close()
  })

  const chat = (url: string, requestId: string) => {
    const { headers, ...init } = chatInit({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] })
    const own = { authorization: `Bearer ${MASTER_KEY}`, 'x-request-id': requestId }
    return fetch(`${url}/v1/chat/completions`, { ...init, headers: { ...headers, ...own } })
  }
  const rows = async (like: string) =>
    (await database.query('SELECT request_id FROM gateway_spend WHERE request_id LIKE $1', [like])).rows.length
  async function deliver(bodies: unknown[]): Promise<unknown> {
    const response = await fetch(`${worker.url}/queue`, { method: 'POST', body: JSON.stringify(bodies) })
    expect(response.status).toBe(200)
    return response.json()
  }

  it('gets every call through the queue of the runtime', async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, (_, index) => chat(deployed.url, `queued-${index}`)))
    for (const answer of answers) expect(answer.status).toBe(200)
    await expect.poll(() => rows('queued-%'), { timeout: 15_000 }).toBe(25)
  })

  it('gets a call at once, where the queue does not take it', async () => {
    expect((await chat(worker.url, 'unqueued-1')).status).toBe(200)
    await expect.poll(() => rows('unqueued-%')).toBe(1)
  })

  it('has a call once that the queue delivers twice, and so have the budget and the sums', async () => {
    const charges = [{ subject: 'key:twice', period: '' }]
    const calls = Array.from({ length: 10 }, (_, index) =>
      finishedCall({
        callId: `call_twice_${index}`,
        requestId: `twice-${index}`,
        keyId: 'twice',
        costNano: 5,
        charges,
      }),
    )
    const bodies = calls.map((body) => ({ topic: 'records:ledger', body }))
    const acknowledged = Object.fromEntries(bodies.map((_, index) => [index, 'ack']))
    expect(await Promise.all([deliver(bodies), deliver(bodies.toReversed())])).toEqual([acknowledged, acknowledged])
    expect(await deliver(bodies)).toEqual(acknowledged)
    expect(await rows('twice-%')).toBe(10)
    const spent = await database.query("SELECT spent_nano FROM gateway_budget WHERE subject = 'key:twice'")
    expect(spent.rows).toEqual([{ spent_nano: '50' }])
    const sums = await database.query("SELECT calls FROM gateway_spend_rollup WHERE key_id = 'twice' AND grain = 'day'")
    expect(sums.rows).toEqual([{ calls: '10' }])
  })

  it('has counts of refused calls, from isolates that hand them on after the answer', async () => {
    const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'nobody', messages: [{ role: 'user', content: 'Hi' }] })
    for (const url of [worker.url, deployed.url]) {
      const init = { method: 'POST', headers, body }
      const refused = await Promise.all([1, 2, 3, 4, 5].map(() => fetch(`${url}/v1/chat/completions`, init)))
      expect(refused.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
    }
    const counted = async () => {
      const { data } = (await (await fetch(`${worker.url}/ui/api/refusals`, { headers })).json()) as {
        data: { code: string; calls: number }[]
      }
      return data.filter(({ code }) => code === 'model_not_found').reduce((sum, { calls }) => sum + calls, 0)
    }
    await expect.poll(counted, { timeout: 20_000 }).toBe(10)
  })

  it('has the attempts of a call that failed over, and tells of them', async () => {
    const tried = (['failed', 'answered'] as const).map((result, index) => ({
      deployment: `d${index}`,
      provider: 'openai',
      group: 'big',
      result,
      error: result === 'failed' ? 'timeout' : '',
      message: result === 'failed' ? 'Too "slow".' : undefined,
      upstreamStatus: undefined,
      upstreamMessage: undefined,
      turn: 1,
      usage: undefined,
      costNano: index,
      startedMs: index,
      firstTokenMs: undefined,
      totalMs: 1,
    }))
    const call = finishedCall({ callId: 'call_over', attempts: 2, tried })
    expect(await deliver([{ topic: 'records:ledger', body: call }])).toEqual({ 0: 'ack' })
    const response = await fetch(`${worker.url}/ui/api/logs/call_over`, {
      headers: { authorization: `Bearer ${MASTER_KEY}` },
    })
    expect(await response.json()).toMatchObject({
      call: { call_id: 'call_over', failed_over: true, attempts: 2 },
      attempts: [
        { deployment: 'd0', result: 'failed', error: 'timeout', message: 'Too "slow".', started_ms: 0 },
        { deployment: 'd1', result: 'answered', error: null, cost: 1e-9 },
      ],
    })
  })

  it('keeps a message that it cannot write as a dead letter, and has one that it does not know come back', async () => {
    const fine = { topic: 'records:ledger', body: finishedCall({ callId: 'call_fine', requestId: 'beside-1' }) }
    const broken = { topic: 'records:ledger', body: { ...finishedCall(), at: 'never' } }
    // The ledger refuses it, the sums do not.
    const odd = { topic: 'records:ledger', body: { ...finishedCall({ keyId: 'odd' }), status: 'twelve' } }
    const later = { delaySeconds: expect.any(Number) }
    expect(await deliver([broken, fine, { topic: 'records:unknown', body: {} }, odd])).toEqual({
      0: 'ack',
      1: 'ack',
      2: later,
      3: 'ack',
    })
    const sums = await database.query("SELECT calls FROM gateway_spend_rollup WHERE key_id = 'odd' AND grain = 'day'")
    expect(sums.rows).toEqual([{ calls: '1' }])
    expect(await rows('beside-%')).toBe(1)
    const letters = await database.query('SELECT topic FROM gateway_dead_letter')
    expect(letters.rows).toEqual([{ topic: 'ledger' }])
  })

  it('has all messages come back while the database is away', async () => {
    const message = { topic: 'records:ledger', body: finishedCall({ callId: 'call_away', requestId: 'away-1' }) }
    await edge.postgres.set('closed')
    expect(await deliver([message])).toEqual({ 0: { delaySeconds: expect.any(Number) } })
    await edge.postgres.set('open')
    expect(await deliver([message])).toEqual({ 0: 'ack' })
    expect(await rows('away-%')).toBe(1)
  })
})
