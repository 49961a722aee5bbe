import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { configOf } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { parsePrometheus } from '../../support/prometheus.ts'
import { readStream, spokenText } from '../../support/sse.ts'
import { answer, slowBetween } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { type GatewayProcess, type Place, place } from './gateway-process.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')
const TEXT = 'One two three four five six seven eight nine ten.'

let here: Place
beforeAll(async () => {
  here = await place()
})
afterEach(() => here.end())
afterAll(() => here.clear())

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const measured = async (gateway: GatewayProcess) => parsePrometheus(await (await gateway.fetch('/metrics')).text())
const total = async (gateway: GatewayProcess) => (await measured(gateway)).total('gateway_requests_total')

describe.skipIf(!postgresUrl || !redisUrl)('several processes behind one port', () => {
  async function group(model: string, count: string): Promise<GatewayProcess> {
    const gateway = await here.start({
      yaml: configOf(upstream.url, { [model]: [model] }),
      env: { GATEWAY_PROCESSES: count, DATABASE_URL: await freshDatabase(postgresUrl), REDIS_URL: redisUrl },
    })
    expect(await gateway.greeted()).toMatch(/^processes +2$/m)
    return gateway
  }
  const pids = (gateway: GatewayProcess) => gateway.logged('listening').map(({ pid }) => Number(pid))

  it('serve together, show one sum of metrics whoever is asked, and follow up on one that dies', async () => {
    const model = `group-${process.pid}-a`
    await upstream.script(model, Array(80).fill(answer({ text: TEXT })))
    const gateway = await group(model, '2')
    expect(new Set(pids(gateway)).size).toBe(2)
    const answered = await Promise.all(Array.from({ length: 40 }, () => gateway.chat({ model })))
    expect(answered.map(({ status }) => status)).toEqual(Array(40).fill(200))
    await Promise.all(answered.map((response) => response.arrayBuffer()))
    const calls = await gateway.untilLogged('call.finished', 40)
    expect(new Set(calls.map(({ pid }) => pid)).size).toBe(2)
    // Several at once, which reach different processes.
    expect(await Promise.all(Array.from({ length: 8 }, () => total(gateway)))).toEqual(Array(8).fill(40))

    const page = await measured(gateway)
    expect(page.value('process_resident_memory_bytes', {}), 'the memory of both').toBeGreaterThan(100e6)
    for (const name of ['process_cpu_seconds_total', 'process_open_fds', 'nodejs_active_resources'])
      expect(page.value(name, {}), name).toBeGreaterThan(0)
    expect(page.value('nodejs_eventloop_lag_p99_seconds', {})).toBeGreaterThanOrEqual(0)
    expect(page.value('gateway_records_lag_seconds', { topic: 'ledger' })).toBeGreaterThanOrEqual(0)

    const [first] = pids(gateway)
    process.kill(first as number, 'SIGKILL')
    await gateway.untilLogged('process.died', 1)
    expect(await total(gateway), 'what a process has counted outlives it').toBe(40)
    const meanwhile = await gateway.chat({ model })
    expect(meanwhile.status).toBe(200)
    await gateway.untilLogged('listening', 3)
    expect(await total(gateway)).toBe(41)
  })

  it('write whole lines, also where they are read slowly', async () => {
    const gateway = await group(`group-${process.pid}-c`, '2')
    gateway.reads(false)
    for (let round = 0; round < 40; round++) {
      const lists = await Promise.all(Array.from({ length: 50 }, () => gateway.fetch('/v1/models')))
      await Promise.all(lists.map((list) => list.arrayBuffer()))
    }
    gateway.reads(true)
    expect(await gateway.untilLogged('request.finished', 2000)).toHaveLength(2000)
    for (const line of gateway.output().split('\n'))
      expect(line, 'a line that begins in another').not.toMatch(/.\{"time"/)
  })

  it('let everything finish on SIGTERM, in all of them', async () => {
    const model = `group-${process.pid}-b`
    await upstream.script(model, Array(6).fill(answer({ text: TEXT }, slowBetween({ ms: 100 }))))
    const gateway = await group(model, '2')
    const streams = await Promise.all(Array.from({ length: 6 }, () => gateway.chat({ model, stream: true })))
    gateway.kill('SIGTERM')
    await gateway.untilLogged('stopping', 2)
    for (const stream of streams) expect(spokenText(await readStream(stream))).toBe(TEXT)
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
    expect(gateway.errors()).toBe('')
  })

  it('let everything finish and end where their leader is killed', async () => {
    const model = `group-${process.pid}-d`
    await upstream.script(model, Array(4).fill(answer({ text: TEXT }, slowBetween({ ms: 100 }))))
    const gateway = await group(model, '2')
    const streams = await Promise.all(Array.from({ length: 4 }, () => gateway.chat({ model, stream: true })))
    gateway.kill('SIGKILL')
    for (const stream of streams) expect(spokenText(await readStream(stream))).toBe(TEXT)
    for (const pid of pids(gateway)) await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
  })

  it('all end when one cannot start', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const gateway = await here.start({
      env: { PORT: String(port), GATEWAY_PROCESSES: '2', DATABASE_URL: postgresUrl, REDIS_URL: redisUrl },
    })
    expect(await gateway.ended).toEqual({ code: 1, signal: null })
    expect(gateway.errors()).toContain(`port ${port} of 127.0.0.1 is in use`)
    taken.close()
  })
})

describe('several processes', () => {
  it.each([
    [{}, /embedded database belongs to one process: set DATABASE_URL, and limits .* set REDIS_URL/],
    [{ REDIS_URL: 'redis://127.0.0.1:1' }, /embedded database belongs to one process: set DATABASE_URL\. /],
    [{ DATABASE_URL: 'postgres://u@127.0.0.1:1/d' }, /limits would count in each process for itself: set REDIS_URL\. /],
  ])('are refused where they would not share their stores: %j', async (env, sentence) => {
    const gateway = await here.start({ env: { GATEWAY_PROCESSES: '3', ...env } })
    expect(await gateway.ended).toEqual({ code: 1, signal: null })
    expect(gateway.errors()).toMatch(sentence)
  })

  it('end in order where they are stopped before the first is loaded', async () => {
    const gateway = await here.start({
      env: { GATEWAY_PROCESSES: '2', DATABASE_URL: 'postgres://u@127.0.0.1:1/d', REDIS_URL: 'redis://127.0.0.1:1' },
    })
    const { pid } = gateway
    await expect.poll(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), { interval: 5 }).not.toBe('')
    await wait(20)
    gateway.kill('SIGTERM')
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
  })

  it('are a number or auto', async () => {
    const gateway = await here.start({ env: { GATEWAY_PROCESSES: 'many' } })
    expect(await gateway.ended).toEqual({ code: 1, signal: null })
    expect(gateway.errors()).toMatch(/GATEWAY_PROCESSES is 'many'/)
  })
})
