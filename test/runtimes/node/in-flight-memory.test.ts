import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { MASTER_KEY } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { type GatewayProcess, type Place, place } from './gateway-process.ts'

const MB = 1_000_000
const LONG = 20 * MB
const CLIENTS = 30
/** Half of which one key may have. */
const MOST = 160 * MB

const long = Buffer.alloc(LONG, 'x')
const upstream = createServer((incoming, outgoing) => {
  incoming.resume()
  const text = (words: Buffer | string) =>
    `{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"${words}"}}]}`
  outgoing.writeHead(200, { 'content-type': 'application/json' })
  outgoing.end(text(long))
})
let here: Place
let gateway: GatewayProcess
const sockets: Socket[] = []

const residentBytes = () =>
  1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1])

/** Sends a call whose answer is not read beyond its first bytes. Resolves with its head. */
async function untaken(body: string, length = body.length): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(await gateway.base()).port) })
  sockets.push(socket)
  socket.on('error', () => {})
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`,
  )
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return first.toString('latin1')
}
const call = JSON.stringify({ model: 'long', messages: [{ role: 'user', content: 'Hi' }] })
const taken = async () => (await (await gateway.chat({ model: 'long' })).text()).length

// An embedded database would be most of the memory.
describe.skipIf(inject('postgresUrl') === '')('the memory of a process', () => {
  beforeAll(async () => {
    await once(upstream.listen(0, '127.0.0.1'), 'listening')
    here = await place()
    const { port } = upstream.address() as AddressInfo
    gateway = await here.start({
      yaml: `general_settings:
  client_stall_timeout: 120
  max_in_flight_bytes: ${MOST}
  database_url: ${await preparedDatabase(inject('postgresUrl'))}
model_list:
  - model_name: long
    gateway_params: { model: openai-compatible/long, api_base: 'http://127.0.0.1:${port}/v1' }
`,
      env: { GATEWAY_MASTER_KEY: MASTER_KEY },
    })
    await gateway.greeted()
  }, 60_000)
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    await here.clear()
    upstream.closeAllConnections()
    upstream.close()
  })

  it(`${CLIENTS} answers of ${LONG / MB} MB that nobody takes stay within what all may hold`, async () => {
    expect(await taken()).toBeGreaterThan(LONG)
    const before = residentBytes()
    const heads = await Promise.all(Array.from({ length: CLIENTS }, () => untaken(call)))
    const passed = heads.filter((head) => head.startsWith('HTTP/1.1 200'))
    const refused = heads.filter((head) => head.startsWith('HTTP/1.1 503'))
    expect(passed.length).toBeGreaterThanOrEqual(1)
    expect(passed.length).toBeLessThanOrEqual(MOST / 2 / LONG)
    expect(passed.length + refused.length).toBe(CLIENTS)
    for (const head of refused) expect(head).toMatch(/retry-after: \d+[\s\S]*too_many_bytes_in_flight/i)
    const grown = residentBytes() - before
    process.stdout.write(`${passed.length} answers held, ${Math.round(grown / MB)} MB more resident\n`)
    // What is read beside what is held, and the collector's delay.
    expect(grown).toBeLessThan(3 * MOST)
    for (const socket of sockets.splice(0)) socket.destroy()
    await wait(500)
    expect(await taken()).toBeGreaterThan(LONG)
  }, 60_000)

  it('bodies that do not end are held within it as well', async () => {
    const before = residentBytes()
    const part = 'x'.repeat(15 * MB)
    const heads: string[] = []
    const tell = (head: string) => void heads.push(head)
    for (let client = 0; client < CLIENTS; client++) untaken(part, 30 * MB).then(tell, () => {})
    const room = Math.floor(MOST / 2 / part.length)
    const deadline = Date.now() + 40_000
    while (heads.length < CLIENTS - room && Date.now() < deadline) await wait(50)
    expect(heads.length).toBeGreaterThanOrEqual(CLIENTS - room)
    expect(heads.length).toBeLessThan(CLIENTS)
    for (const head of heads) expect(head).toMatch(/^HTTP\/1\.1 503 /)
    const grown = residentBytes() - before
    process.stdout.write(`${CLIENTS - heads.length} bodies held, ${Math.round(grown / MB)} MB more resident\n`)
    expect(grown).toBeLessThan(3 * MOST)
    for (const socket of sockets.splice(0)) socket.destroy()
    await wait(500)
    expect(await taken()).toBeGreaterThan(LONG)
  }, 60_000)
})
