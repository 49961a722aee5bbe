import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatInit, configOf, MASTER_KEY } from '../../support/gateway.ts'
import { type RawRedis, rawRedis } from '../../support/raw-redis.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { answer, slowBetween, stallAfter } from '../../support/upstream/index.ts'
import { httpLine } from '../speed/http-line.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, REDIS_TOKEN, startEdge } from './support/edge.ts'
import { type RawClient, rawClient } from './support/raw-client.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const SLOTS = 40
const messages = [{ role: 'user', content: 'Hello' }]

describe.skipIf(!edgeExists())('on workerd, calls that end at the same time', () => {
  let edge: Edge
  let line: Awaited<ReturnType<typeof httpLine>>
  let redis: RawRedis
  let upstream: Upstream
  let worker: Workerd

  beforeAll(async () => {
    upstream = await startUpstream()
    edge = await startEdge()
    line = await httpLine(edge.variables.REDIS_URL as string)
    redis = rawRedis(edge.variables.REDIS_URL as string, REDIS_TOKEN)
    const yaml = configOf(upstream.url, {
      warming: ['warming'],
      streaming: ['streaming'],
      leaving: ['leaving'],
      whole: ['whole'],
    })
    const variables = { ...edge.variables, REDIS_URL: line.url }
    worker = await startWorkerd(withConfig(await workerModules(), yaml), variables, { queue: 'taking' })
  })
  afterAll(async () => {
    await worker?.stop()
    await line?.close()
    await edge?.close()
    await upstream?.close()
  })

  const ask = (key: string, model: string): RawClient =>
    rawClient(worker.port, {
      head: ['POST /v1/chat/completions HTTP/1.1', 'content-type: application/json', `authorization: Bearer ${key}`],
      body: JSON.stringify({ model, messages, stream: true }),
    })
  const keys = async (pattern: string) => ((await redis.command('KEYS', pattern)) as string[]).map(atob)
  const held = async () => {
    const counts = (await keys('gateway:slots:*')).map((name) => redis.command('ZCARD', name))
    return ((await Promise.all(counts)) as number[]).reduce((sum, count) => sum + count, 0)
  }

  it('are settled together, each once, whoever of them has lost its client', async () => {
    const made = await fetch(`${worker.url}/ui/api/keys`, {
      ...chatInit({ max_parallel_requests: SLOTS }),
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    })
    const { key } = (await made.json()) as { key: string }
    upstream.script('warming', [answer({})])
    const first = ask(key, 'warming')
    await first.until('[DONE]')
    first.socket.destroy()
    upstream.script('streaming', Array(SLOTS).fill(answer({}, slowBetween({ ms: 100 }))))
    upstream.script('leaving', Array(SLOTS).fill(answer({}, stallAfter({ frames: 4 }))))
    upstream.script('whole', Array(SLOTS).fill(answer({})))

    for (let round = 1; round <= 2; round++) {
      const half = SLOTS / 2
      const leaving = Array.from({ length: half }, () => ask(key, 'leaving'))
      const staying = Array.from({ length: half }, () => ask(key, 'streaming'))
      await Promise.all([...leaving, ...staying].map((client) => client.until('Hello')))
      expect(await held()).toBe(SLOTS)
      for (const client of leaving) client.reset()
      await Promise.all(staying.map((client) => client.until('[DONE]')))
      await expect.poll(held, { interval: 25 }).toBe(0)
      expect(await keys('gateway:settled:*')).toHaveLength(1 + round * SLOTS)
      for (const client of staying) client.socket.destroy()
    }
    const settlements = line.bodies.filter((body) => body.includes('gateway:settled:'))
    expect(settlements.length).toBeLessThan(2 * SLOTS)
    expect(settlements.some((body) => body.startsWith('[['))).toBe(true)

    const again = Array.from({ length: SLOTS }, async () => {
      const response = await fetch(`${worker.url}/v1/chat/completions`, {
        ...chatInit({ model: 'whole', messages }),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      })
      await response.arrayBuffer()
      return response.status
    })
    expect(await Promise.all(again)).toEqual(Array(SLOTS).fill(200))
    expect(
      worker
        .output()
        .split('\n')
        .filter((text) => text.includes('"settle.failed"')),
    ).toEqual([])
  })
})
