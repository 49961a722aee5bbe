import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { builtGateway } from '../../support/built-gateway.ts'
import { configuration } from '../../support/configuration.ts'
import { configOf, MASTER_KEY } from '../../support/gateway.ts'
import { preparedPlace } from '../../support/prepared-place.ts'
import { readStream, spokenText } from '../../support/sse.ts'
import { answer, slowBetween, slowHeaders, stallAfter } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import type { GatewayProcess, Place } from './gateway-process.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const TEXT = 'One two three four five six seven eight nine ten.'

let here: Place
let model: string
let serial = 0
// One data folder for all: what is measured here is the end, not the beginning.
beforeAll(async () => {
  here = await preparedPlace()
})
beforeEach(() => {
  model = `stop-${process.pid}-${serial++}`
})
afterEach(() => here.end())
afterAll(() => here.clear())

async function ready(env: Record<string, string> = {}): Promise<GatewayProcess> {
  const gateway = await here.start({ yaml: configOf(upstream.url, { [model]: [model] }), env })
  await gateway.greeted()
  return gateway
}

const running = (count: number) =>
  upstream.until(model, (calls) => calls.filter(({ outcome }) => outcome === 'running').length >= count)

describe.each(['SIGTERM', 'SIGHUP'] as const)('%s', (signal) => {
  it('lets a stream and a whole call finish, settles them, and ends with 0', async () => {
    await upstream.script(model, [
      answer({ text: TEXT }, slowBetween({ ms: 150 })),
      answer({ text: TEXT }, slowHeaders({ ms: 1200 })),
    ])
    const gateway = await ready()
    const stream = await gateway.chat({ model, stream: true })
    const whole = gateway.chat({ model })
    await running(2)
    gateway.kill(signal)
    await gateway.untilLogged('stopping', 1)
    await expect(fetch(await gateway.base())).rejects.toThrow()

    const received = await readStream(stream)
    expect(spokenText(received)).toBe(TEXT)
    expect(received.events.at(-1)?.data).toBe('[DONE]')
    const answered = await whole
    expect(answered.headers.get('connection')).toBe('close')
    expect(await answered.json()).toMatchObject({ choices: [{ message: { content: TEXT } }] })

    expect(await gateway.ended).toEqual({ code: 0, signal: null })
    expect(gateway.errors()).toBe('')
    expect(gateway.logged('call.finished')).toMatchObject([{ ending: 'answered' }, { ending: 'answered' }])
    expect(gateway.logged('stopped')).toMatchObject([{ outcome: 'drained' }])
  }, 60_000)
})

/** Not every machine lets a process begin a tree of its own. */
const hasTrees = spawnSync('unshare', ['-rpf', 'true']).status === 0

it.runIf(hasTrees)('the first process of a container ends on a signal also while it is being loaded', async () => {
  const { program, compiled } = await builtGateway()
  const config = join(here.folder, `${model}.yaml`)
  execFileSync('mkfifo', [config])
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compiled, PORT: '0', GATEWAY_CONFIG: config }
  const child = spawn('unshare', ['-rpf', '--kill-child', process.execPath, program], { env, cwd: here.folder })
  const ended = once(child, 'exit')
  // Resolves when the gateway begins to read its configuration.
  const file = await openFile(config, 'w')
  const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
  process.kill(Number(first), 'SIGTERM')
  await file.writeFile('model_list: []\n')
  await file.close()
  const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
  expect(await ended).toEqual([0, null])
  clearTimeout(late)
})

it('a rejection that nobody handles is logged, and stops nothing', async () => {
  const stray = "process.on('SIGUSR2', () => void Promise.reject(new Error('stray')))"
  const gateway = await here.start({
    yaml: 'model_list: [{ model_name: m, gateway_params: { model: echo/m } }]',
    nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(stray)}`],
  })
  await gateway.greeted()
  gateway.kill('SIGUSR2')
  expect(await gateway.untilLogged('rejection.unhandled', 1)).toMatchObject([{ level: 'error', error: 'Error: stray' }])
  expect((await gateway.chat({ model: 'm' })).status).toBe(200)
})

describe('stopping', () => {
  it('does not wait for connections that are kept alive and idle', async () => {
    const gateway = await ready()
    const sockets = await Promise.all(Array.from({ length: 5 }, () => open(gateway)))
    for (const { socket, until } of sockets) {
      socket.write('GET /health/liveliness HTTP/1.1\r\nhost: x\r\n\r\n')
      expect(await until(/\r\n\r\nok$/)).toMatch(/connection: keep-alive/i)
    }
    const silent = await open(gateway)
    const started = performance.now()
    gateway.kill('SIGTERM')
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
    expect(performance.now() - started).toBeLessThan(15_000)
    for (const { socket } of [...sockets, silent]) expect(socket.closed || socket.readableEnded).toBe(true)
  }, 60_000)

  it('answers what still comes over a connection in use, and says that it is the last', async () => {
    await upstream.script(model, [answer({ text: TEXT }, slowBetween({ ms: 100 }))])
    const gateway = await ready()
    const { socket, until } = await open(gateway)
    const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hello' }] })
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${MASTER_KEY}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    expect(await until(/data: /)).toMatch(/connection: keep-alive/i)
    gateway.kill('SIGTERM')
    await gateway.untilLogged('stopping', 1)
    socket.write('GET /health/readiness HTTP/1.1\r\nhost: x\r\n\r\n')
    const second = (await until(/HTTP\/1\.1 503[\s\S]*\}$/)).split('HTTP/1.1 503')[1]
    expect(second).toMatch(/^connection: close\r$/im)
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
  }, 60_000)

  it.runIf(inject('redisUrl'))(
    'tells the shared store what the ledger has spent before it leaves it',
    async () => {
      const redis = await slowRedis(100)
      const yaml = configuration({
        general_settings: { redis_url: redis.url },
        model_list: [
          {
            model_name: 'm',
            gateway_params: { model: 'echo/m' },
            model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.001 },
          },
        ],
      })
      const gateway = await here.start({ yaml })
      await gateway.greeted()
      const headers = { 'content-type': 'application/json' }
      const made = await gateway.fetch('/ui/api/keys', { method: 'POST', body: '{"max_budget":100}', headers })
      const { key } = (await made.json()) as { key: string }
      const answered = await gateway.chat({ model: 'm' }, { headers: { authorization: `Bearer ${key}` } })
      expect(answered.status).toBe(200)
      gateway.kill('SIGTERM')
      expect(await gateway.ended).toEqual({ code: 0, signal: null })
      expect(gateway.logged('store.degraded')).toEqual([])
      redis.close()
    },
    60_000,
  )

  it('cuts and settles what takes longer than it may', async () => {
    await upstream.script(model, [answer({ text: TEXT }, stallAfter({ frames: 4 }))])
    const gateway = await ready({ GATEWAY_DRAIN_SECONDS: '1' })
    const stream = await gateway.chat({ model, stream: true })
    const reading = readStream(stream)
    await running(1)
    const started = performance.now()
    gateway.kill('SIGTERM')
    const received = await reading
    // Said by us, and not as if it had been the client who left.
    expect(JSON.parse(received.events.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'shutting_down' } })
    expect(received.text).not.toContain('[DONE]')
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
    expect(performance.now() - started).toBeGreaterThan(900)
    expect(performance.now() - started).toBeLessThan(15_000)
    expect(gateway.logged('call.finished')).toMatchObject([
      { ending: 'truncated', usage: { estimated: true }, tried: [{ result: 'cut', error: 'shutting_down' }] },
    ])
    expect(gateway.logged('stopped')).toMatchObject([{ outcome: 'cut' }])
    await upstream.until(model, ([call]) => call?.outcome === 'client_closed')
  }, 60_000)

  it('ends behind its last line, also where they are read slowly', async () => {
    const gateway = await ready()
    gateway.reads(false)
    for (let round = 0; round < 20; round++) {
      const lists = await Promise.all(Array.from({ length: 50 }, () => gateway.fetch('/v1/models')))
      await Promise.all(lists.map((list) => list.arrayBuffer()))
    }
    gateway.kill('SIGTERM')
    await wait(400)
    gateway.reads(true)
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
    expect(gateway.logged('request.finished')).toHaveLength(1000)
    expect(gateway.logged('stopped')).toHaveLength(1)
  }, 60_000)

  it('takes an interrupt that comes twice at once for one, and a later one for hurry', async () => {
    await upstream.script(model, [answer({}, stallAfter({ frames: 4 }))])
    const gateway = await ready()
    await gateway.chat({ model, stream: true })
    gateway.kill('SIGINT')
    gateway.kill('SIGINT')
    await gateway.untilLogged('stopping', 1)
    await wait(1200)
    expect(gateway.logged('stopped')).toEqual([])
    gateway.kill('SIGINT')
    expect(await gateway.ended).toEqual({ code: 1, signal: null })
  }, 60_000)

  it('happens when the shell through which npm started it is gone', async () => {
    const { program, compiled } = await builtGateway()
    const npm = `process.env.npm_lifecycle_event = 'start'
      const child = require('node:child_process').spawn(process.execPath, ['${program}'], { stdio: 'inherit' })
      setInterval(() => {}, 1000)`
    const data = join(here.folder, 'data')
    const shell = spawn(process.execPath, ['-e', npm], {
      cwd: new URL('../../../', import.meta.url),
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: compiled, PORT: '0', GATEWAY_DATA_DIR: data },
    })
    let output = ''
    shell.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    await expect.poll(() => output, { timeout: 50_000 }).toContain('"listening"')
    // The pipe ends with its last holder: the gateway.
    const ended = once(shell.stdout, 'end')
    shell.kill('SIGTERM')
    await ended
    expect(output).toContain('"reason":"orphaned"')
    expect(output).toContain('"stopped"')
  }, 90_000)
})

/** A connection as bytes. */
async function open(gateway: GatewayProcess): Promise<{ socket: Socket; until(awaited: RegExp): Promise<string> }> {
  const { hostname, port } = new URL(await gateway.base())
  const socket = connect(Number(port), hostname).setEncoding('utf8')
  let received = ''
  socket.on('data', (text) => {
    received += text
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return {
    socket,
    async until(awaited) {
      await expect.poll(() => received, { timeout: 10_000, interval: 10 }).toMatch(awaited)
      return received
    },
  }
}

it('tells balancers first: not ready for `shutdown_delay`, while calls are still taken', async () => {
  const yaml = `general_settings: { shutdown_delay: 1.5 }\n${configOf(upstream.url, { [model]: [model] })}`
  const gateway = await here.start({ yaml })
  await gateway.greeted()
  const statusOf = async (path: string) => (await gateway.fetch(path)).status
  expect(await statusOf('/health/readiness')).toBe(200)
  const askedAt = performance.now()
  gateway.kill('SIGTERM')
  await gateway.untilLogged('stopping', 1)
  expect(await statusOf('/health/readiness')).toBe(503)
  const alive = await gateway.fetch('/health/liveliness')
  expect([alive.status, alive.headers.get('connection')], 'the last of its connection').toEqual([200, 'close'])
  expect((await gateway.chat({ model })).status).toBe(200)
  expect(await gateway.ended).toEqual({ code: 0, signal: null })
  expect(performance.now() - askedAt).toBeGreaterThan(1400)
})

/** The Redis of all tests at an address whose answers come later. */
async function slowRedis(ms: number): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(inject('redisUrl'))
  const server = createServer((client) => {
    const redis = connect(Number(port), hostname)
    client.on('data', (sent) => redis.write(sent))
    redis.on('data', (told) => setTimeout(() => client.write(told), ms))
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port: own } = server.address() as AddressInfo
  return { url: `redis://127.0.0.1:${own}`, close: () => void server.close() }
}
