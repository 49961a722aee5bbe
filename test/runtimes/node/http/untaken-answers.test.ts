import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'

const LONG_BYTES = 24_000_000
const STALL_SECONDS = 6

/** Answers with more than all buffers on the way hold. */
let asked = 0
const long = Buffer.from(
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'long',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x'.repeat(LONG_BYTES) } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
)
const upstream = createServer((incoming, outgoing) => {
  asked += 1
  incoming.resume()
  outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': long.byteLength })
  outgoing.end(long)
})

let gateway: FullGateway
const api = adminApi(() => gateway)
const sockets: Socket[] = []

beforeAll(async () => {
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const database = inject('postgresUrl') === '' ? '' : `database_url: ${await preparedDatabase(inject('postgresUrl'))}`
  gateway = await startFullGateway(`general_settings:
  client_stall_timeout: ${STALL_SECONDS}
  ${database}
model_list:
  - model_name: long
    gateway_params:
      model: openai-compatible/long
      api_base: http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1
`)
}, 120_000)
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  asked = 0
})
afterAll(async () => {
  await gateway.close()
  upstream.closeAllConnections()
  upstream.close()
})

async function newKey(fields: object): Promise<string> {
  const { status, body } = await api('POST', '/keys', fields)
  expect(status).toBe(201)
  return body.key
}

const BODY = JSON.stringify({ model: 'long', messages: [{ role: 'user', content: 'Hi' }] })
const headOf = (key: string, length: number, more = '') =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`

function open(): Socket {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  sockets.push(socket)
  return socket
}

/** Asks, reads the beginning of the answer, and nothing more of it until `resume`. */
async function begun(key: string): Promise<{ socket: Socket; status: number; head: string }> {
  const socket = open()
  socket.write(headOf(key, BODY.length) + BODY)
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  const text = first.toString('latin1')
  const head = text.slice(0, text.indexOf('\r\n\r\n'))
  socket.unshift(first)
  return { socket, head, status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]) }
}

/** Everything that comes until the answer is whole. */
async function whole(socket: Socket, bytes = long.byteLength): Promise<string> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of socket.iterator({ destroyOnReturn: false })) {
    pieces.push(piece)
    length += piece.byteLength
    if (length >= bytes) {
      const text = Buffer.concat(pieces).toString('latin1')
      const body = text.slice(text.indexOf('\r\n\r\n') + 4)
      if (body.length >= bytes) return body
    }
  }
  throw new Error(`ended after ${length} bytes`)
}

const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort()

describe('an answer that its client does not take', () => {
  it('holds the slot of its call until it is taken', async () => {
    const key = await newKey({ max_parallel_requests: 2 })
    const first = [await begun(key), await begun(key)]
    const others = await Promise.all(Array.from({ length: 18 }, () => begun(key)))
    expect(statuses(first)).toEqual([200, 200])
    expect(statuses(others)).toEqual(new Array(18).fill(429))
    expect(asked).toBe(2)
    const [taker] = first as [Awaited<ReturnType<typeof begun>>]
    expect(taker.head.toLowerCase()).toContain(`content-length: ${long.byteLength}`)
    expect(JSON.parse(await whole(taker.socket)).choices[0].message.content.length).toBe(LONG_BYTES)
    // Who has all of it may ask again at once, over the same connection.
    taker.socket.write(headOf(key, BODY.length) + BODY)
    const [again] = (await once(taker.socket, 'data')) as [Buffer]
    expect(again.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('is broken off where nothing of it is taken for too long, and then everything is free', async () => {
    const key = await newKey({ max_parallel_requests: 1 })
    const untaken = await begun(key)
    const began = performance.now()
    expect((await begun(key)).status).toBe(429)
    let status = 429
    while (status === 429 && performance.now() - began < 30_000) {
      await wait(200)
      const next = await begun(key)
      status = next.status
      next.socket.destroy()
    }
    expect(status).toBe(200)
    expect(performance.now() - began).toBeGreaterThan(1000 * STALL_SECONDS - 500)
    await expect(whole(untaken.socket)).rejects.toThrow()
  }, 60_000)

  it('is waited for where its client takes some of it from time to time', async () => {
    const key = await newKey({ max_parallel_requests: 1 })
    const slow = await begun(key)
    for (let turn = 0; turn < 4; turn++) {
      await wait((1000 * STALL_SECONDS) / 3)
      for (let piece = 0; piece < 30; piece++) slow.socket.read()
      slow.socket.resume()
      await wait(20)
      slow.socket.pause()
    }
    expect(slow.socket.destroyed).toBe(false)
    slow.socket.destroy()
  }, 60_000)
})

describe('a body that does not come', () => {
  it('is refused after the stall timeout, and holds no slot meanwhile', async () => {
    const key = await newKey({ max_parallel_requests: 1 })
    const socket = open()
    socket.write(`${headOf(key, 100_000)}{"model":`)
    await wait(300)
    const other = await begun(key)
    expect(other.status).toBe(200)
    other.socket.destroy()
    const [told] = (await once(socket, 'data')) as [Buffer]
    expect(told.toString()).toMatch(/^HTTP\/1\.1 408 [\s\S]*connection: close[\s\S]*"code":"request_timeout"/i)
    await once(socket, 'close')
  }, 40_000)

  it('is waited for while it goes on', async () => {
    const key = await newKey({})
    const body = JSON.stringify({ model: 'nobody', messages: [] })
    const socket = open()
    socket.write(headOf(key, body.length))
    for (const letter of body.slice(0, 5)) {
      await wait((1000 * STALL_SECONDS) / 3)
      socket.write(letter)
    }
    socket.write(body.slice(5))
    const [told] = (await once(socket, 'data')) as [Buffer]
    expect(told.toString()).toMatch(/^HTTP\/1\.1 400 /)
  }, 60_000)
})

describe('a client that asks before it sends its body', () => {
  const expecting = 'Expect: 100-continue\r\n'

  it('is told to send it where it is read, and may go on with its connection', async () => {
    const key = await newKey({})
    const body = JSON.stringify({ model: 'nobody', messages: [{ role: 'user', content: 'x' }] })
    const socket = open()
    for (let turn = 0; turn < 2; turn++) {
      socket.write(headOf(key, body.length, expecting))
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
      socket.write(body)
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 404 [\s\S]*connection: keep-alive/i)
    }
  })

  it('is refused at once where nobody would read it, and its connection ends', async () => {
    const socket = open()
    socket.write(headOf('sk-nobody', 1_000_000, expecting))
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 401 [\s\S]*connection: close/i)
    await once(socket, 'close')
  })

  it('is answered as others are where it expects something else', async () => {
    const socket = open()
    socket.write(`${headOf('sk-nobody', 2, 'Expect: x\r\n')}{}`)
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 401 [\s\S]*"error":/)
  })
})

describe('a long body of a caller who is at a limit', () => {
  it.each([
    ['0 requests', { rpm_limit: 0 }, 'key_rpm'],
    ['0 at the same time', { max_parallel_requests: 0 }, 'key_parallel_requests'],
  ])('is refused before it is sent: %s', async (_, fields, scope) => {
    const socket = open()
    const key = await newKey(fields)
    const began = performance.now()
    socket.write(headOf(key, 30_000_000))
    expect(String(await once(socket, 'data'))).toMatch(new RegExp(`^HTTP/1.1 429 [\\s\\S]*"param":"${scope}"`))
    expect(performance.now() - began).toBeLessThan(1000 * STALL_SECONDS - 1000)
  })

  it('is refused before it is sent while a window is used up, and not when the limit is raised', async () => {
    const { status, body } = await api('POST', '/keys', { rpm_limit: 1 })
    expect(status).toBe(201)
    expect((await begun(body.key)).status).toBe(200)
    expect((await begun(body.key)).status).toBe(429)
    const refused = open()
    refused.write(headOf(body.key, 30_000_000))
    expect(String(await once(refused, 'data'))).toMatch(/^HTTP\/1\.1 429 [\s\S]*retry-after/i)
    expect((await api('PATCH', `/keys/${body.key_id}`, { rpm_limit: 3 })).status).toBe(200)
    const socket = open()
    const padded = BODY.padEnd(20_000)
    socket.write(headOf(body.key, padded.length) + padded)
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 [\s\S]*x-ratelimit-remaining-requests: 1/i)
  })
})
