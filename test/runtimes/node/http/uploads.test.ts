import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../../../support/gateway.ts'
import { preparedPlace } from '../../../support/prepared-place.ts'
import type { GatewayProcess, Place } from '../gateway-process.ts'

const MEGABYTE = 1024 * 1024
const HEAD =
  '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nhear\r\n' +
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
const TAIL = '\r\n--b--\r\n'
const answered = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"Hello"}')

/** One process, uploads of every size, and an upstream that takes them as the test says. */
describe('an upload of 90 MB', () => {
  let home: Place
  let gateway: GatewayProcess
  let received = 0
  let closedAt = 0
  let take: (request: IncomingMessage, response: ServerResponse) => void
  const upstream = createServer((request, response) => {
    request.on('error', () => {})
    response.once('close', () => (closedAt = Date.now()))
    take(request, response)
  })
  const takeAll = (request: IncomingMessage, response: ServerResponse) => {
    request.on('data', (piece) => (received += piece.byteLength))
    request.once('end', () => answered(response))
  }

  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    home = await preparedPlace()
    gateway = await home.start({
      yaml: `router_settings: { num_retries: 1, cooldown_time: 0, total_timeout: 40 }
model_list:
  - model_name: hear
    gateway_params: { model: openai-compatible/hear, api_base: "http://127.0.0.1:${(upstream.address() as AddressInfo).port}", api_key: k }
`,
    })
    await gateway.greeted()
  })
  beforeEach(() => {
    received = 0
    closedAt = 0
  })
  afterAll(async () => {
    await home.clear()
    upstream.closeAllConnections()
    upstream.close()
  })

  const residentBytes = () => 4096 * Number(readFileSync(`/proc/${gateway.pid}/statm`, 'utf8').split(' ')[1])

  /** The most that the process was above what it had, while `work` went on. */
  async function growth(work: () => Promise<unknown>): Promise<number> {
    const before = residentBytes()
    let most = before
    const timer = setInterval(() => (most = Math.max(most, residentBytes())), 10)
    await work().finally(() => clearInterval(timer))
    return most - before
  }

  async function open(length = HEAD.length + 90 * MEGABYTE + TAIL.length): Promise<Socket> {
    const socket = connect(Number(new URL(await gateway.base()).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${MASTER_KEY}\r\n` +
        `content-type: multipart/form-data; boundary=b\r\ncontent-length: ${length}\r\n\r\n`,
    )
    return socket
  }

  async function limit(policy: object): Promise<void> {
    const headers = { 'content-type': 'application/json' }
    const group = '/ui/api/route-groups/hear/policy'
    await gateway.fetch(`${group}/draft`, { method: 'PUT', headers, body: JSON.stringify(policy) })
    expect((await gateway.fetch(`${group}/publish`, { method: 'POST' })).status).toBe(200)
  }

  async function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
    if (!socket.write(bytes)) await new Promise((resolve) => socket.once('drain', resolve))
  }

  async function upload(parts: { head: string; tail: string } = { head: HEAD, tail: TAIL }): Promise<string> {
    const socket = await open(parts.head.length + 90 * MEGABYTE + parts.tail.length)
    const answer = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))))
    await write(socket, parts.head)
    const piece = new Uint8Array(MEGABYTE).fill(7)
    for (let sent = 0; sent < 90; sent++) await write(socket, piece)
    await write(socket, parts.tail)
    return answer.finally(() => socket.destroy())
  }

  /** So many at a time, of which less than three quarters may be in memory, garbage that waits for its collector included. */
  const SEVERAL = 4
  const BOUND = (SEVERAL * 90 * MEGABYTE * 3) / 4
  const severally = async (expected: string, parts?: { head: string; tail: string }) => {
    const answers = await Promise.all(Array.from({ length: SEVERAL }, () => upload(parts)))
    for (const answer of answers) expect(answer).toContain(expected)
  }

  it('takes a bounded amount of memory, and reaches its provider whole', async () => {
    take = takeAll
    const grown = await growth(() => severally('200 OK'))
    expect(received).toBe(SEVERAL * (HEAD.length + 90 * MEGABYTE + TAIL.length))
    expect(grown).toBeLessThan(BOUND)
  })

  it('does so too where its model comes last', async () => {
    take = takeAll
    const [model = '', file = ''] = HEAD.split('--b').slice(1)
    const parts = { head: `--b${file}`, tail: `\r\n--b${model}--b--\r\n` }
    const grown = await growth(() => severally('200 OK', parts))
    expect(received).toBeGreaterThan(SEVERAL * 90 * MEGABYTE)
    expect(grown).toBeLessThan(BOUND)
  })

  it('is sent again, whole, when its provider fails at its end', async () => {
    let calls = 0
    take = (request, response) => {
      calls += 1
      if (calls > SEVERAL) return takeAll(request, response)
      request.on('data', () => {})
      request.once('end', () => response.writeHead(500).end('{}'))
    }
    const grown = await growth(() => severally('x-gateway-attempts: 2'))
    expect(received).toBe(SEVERAL * (HEAD.length + 90 * MEGABYTE + TAIL.length))
    expect(grown).toBeLessThan(BOUND)
  })

  it('is sent again when its provider fails before it was read', async () => {
    let calls = 0
    take = (request, response) => {
      calls += 1
      if (calls > 1) takeAll(request, response)
      else request.socket.destroy()
    }
    expect(await upload()).toContain('x-gateway-attempts: 2')
    expect(received).toBe(HEAD.length + 90 * MEGABYTE + TAIL.length)
  })

  it('goes no faster than its provider takes it', async () => {
    take = () => {}
    const socket = await open()
    let sent = 0
    const piece = new Uint8Array(MEGABYTE)
    const sending = (async () => {
      await write(socket, HEAD)
      for (; sent < 90; sent++) await write(socket, piece)
    })()
    await wait(1000)
    // What the sockets on the way hold.
    expect(sent).toBeLessThan(60)
    socket.destroy()
    await Promise.race([sending, wait(10)])
  })

  it('ends within a second when its client leaves', async () => {
    take = takeAll
    const socket = await open()
    await write(socket, HEAD)
    await write(socket, new Uint8Array(5 * MEGABYTE))
    while (received < 4 * MEGABYTE) await wait(5)
    // Calls of the tests before may end late.
    closedAt = 0
    socket.destroy()
    const leftAt = Date.now()
    while (closedAt === 0 && Date.now() < leftAt + 10_000) await wait(5)
    expect(closedAt - leftAt).toBeGreaterThanOrEqual(0)
    expect(closedAt - leftAt).toBeLessThan(8000)
  })

  it('is not waited for longer than a call may take, where its answer begins before it has ended', async () => {
    take = (request, response) => {
      request.on('data', () => {})
      response.writeHead(200, { 'content-type': 'application/json' }).write('{')
    }
    await limit({ total_timeout: 4 })
    const socket = await open()
    const answer = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))))
    const startedAt = Date.now()
    await write(socket, HEAD)
    await write(socket, new Uint8Array(MEGABYTE))
    expect(await answer).toContain('408')
    expect(Date.now() - startedAt).toBeLessThan(12_000)
    socket.destroy()
  })
})
