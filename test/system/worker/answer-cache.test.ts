import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configuration, deployment } from '../../support/configuration.ts'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { answer, change, serverError, slowHeaders } from '../../support/upstream/index.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { rawClient } from './support/raw-client.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const messages = [{ role: 'user', content: 'Größe? ☃' }]

describe.skipIf(!edgeExists())('the answer cache of two workers over one Redis', () => {
  let edge: Edge
  let upstream: Upstream
  let workers: readonly [Workerd, Workerd]
  let serial = 0

  beforeAll(async () => {
    upstream = await startUpstream()
    edge = await startEdge()
    const yaml = configuration({
      general_settings: { cache_enabled: true },
      model_list: [deployment(upstream.url, 'group', 'cached')],
    })
    const modules = withConfig(await workerModules(), yaml)
    workers = await Promise.all([startWorkerd(modules, edge.variables), startWorkerd(modules, edge.variables)])
    for (const at of [0, 1]) await ask(at, { seed: -at - 1 })
  }, 60_000)
  afterAll(async () => {
    await Promise.all(workers?.map((worker) => worker.stop()) ?? [])
    await edge?.close()
    await upstream?.close()
  })

  async function ask(at: number, body: object) {
    const init = chatInit({ model: 'group', messages, ...body }, { headers: { authorization: `Bearer ${MASTER_KEY}` } })
    const response = await fetch(`${workers[at % 2]?.url}/v1/chat/completions`, init)
    return { status: response.status, cache: response.headers.get('x-gateway-cache'), text: await response.text() }
  }
  const degraded = () => workers.flatMap((worker) => worker.output().split('"store.degraded"')).length
  const asked = () => upstream.calls('cached').length

  it.each([false, true])(
    'asks once for a hundred identical calls (streamed: %s), at once and later',
    async (stream) => {
      serial += 1
      upstream.script('cached', [answer({ text: 'Größe ☃ '.repeat(50) }, slowHeaders({ ms: 500 }))])
      const [before, away] = [asked(), degraded()]
      const got = await Promise.all(Array.from({ length: 100 }, (_, at) => ask(at, { stream, seed: serial })))
      expect(got.map(({ status }) => status)).toEqual(Array(100).fill(200))
      // On a machine so busy that the store seems away, calls go without the cache.
      if (degraded() > away) return
      expect(asked() - before).toBe(1)
      expect(new Set(got.map(({ text }) => text)).size).toBe(1)
      expect(got.filter(({ cache }) => cache === 'hit')).toHaveLength(99)
      expect(await ask(1, { stream, seed: serial })).toMatchObject({ cache: 'hit', text: got[0]?.text })
      expect(asked() - before).toBe(1)
    },
  )

  it('goes on with the next one when the first fails', async () => {
    serial += 1
    upstream.script('cached', [
      change(serverError(), slowHeaders({ ms: 300 })),
      answer({ text: 'ok' }, slowHeaders({ ms: 300 })),
    ])
    const before = asked()
    const got = await Promise.all(Array.from({ length: 20 }, (_, at) => ask(at, { seed: serial })))
    expect(got.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 502])
    expect(asked() - before).toBe(2)
  })

  it('goes on with the next one when the client of the first leaves', async () => {
    serial += 1
    upstream.script('cached', [answer({ text: 'ok' }, slowHeaders({ ms: 2000 }))])
    const before = asked()
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      'content-type: application/json',
      `authorization: Bearer ${MASTER_KEY}`,
    ]
    const leaving = rawClient(workers[0].port, {
      head,
      body: JSON.stringify({ model: 'group', messages, seed: serial }),
    })
    await upstream.until('cached', (calls) => calls.length === before + 1)
    const others = Array.from({ length: 10 }, (_, at) => ask(at, { seed: serial }))
    await wait(200)
    leaving.reset()
    const startedAt = performance.now()
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(performance.now() - startedAt).toBeLessThan(8000)
    expect(asked() - before).toBe(2)
  })

  it('strands nobody when one that waits leaves, though it looked for all', async () => {
    serial += 1
    upstream.script('cached', [answer({ text: 'ok' }, slowHeaders({ ms: 1200 }))])
    const before = asked()
    const first = ask(0, { seed: serial })
    await upstream.until('cached', (calls) => calls.length === before + 1)
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      'content-type: application/json',
      `authorization: Bearer ${MASTER_KEY}`,
    ]
    const body = JSON.stringify({ model: 'group', messages, seed: serial })
    const leaving = Array.from({ length: 5 }, () => rawClient(workers[1].port, { head, body }))
    await wait(100)
    const others = Array.from({ length: 10 }, () => ask(1, { seed: serial }))
    await wait(300)
    for (const one of leaving) one.reset()
    const got = await Promise.all([first, ...others])
    expect(got.map(({ status }) => status)).toEqual(Array(11).fill(200))
    expect(asked() - before).toBe(1)
  })
})
