import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../../support/gateway.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { type WorkerModules, withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const MIB = 1024 * 1024
const PIECE = Buffer.from(`${JSON.stringify({ custom_id: 'a', body: 'x'.repeat(1000) })}\n`.repeat(1000))

/** Counts the bytes that streams have given, or requests have carried, and that are still in memory. */
const HOLDING = `
let held = 0
const seen = new WeakSet()
const freed = new FinalizationRegistry((bytes) => (held -= bytes))
function note(value) {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value
  if (!(buffer instanceof ArrayBuffer) || seen.has(buffer)) return
  seen.add(buffer)
  held += buffer.byteLength
  freed.register(buffer, buffer.byteLength)
}
const { read } = ReadableStreamDefaultReader.prototype
ReadableStreamDefaultReader.prototype.read = async function () {
  const found = await read.call(this)
  note(found.value)
  return found
}
const { fetch } = globalThis
globalThis.fetch = (resource, init) => {
  note(init?.body)
  return fetch(resource, init)
}
export async function heldBytes() {
  for (let turns = 0; turns < 5; turns++) {
    gc()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return held
}
`

const DRIVER = `
import { heldBytes } from './holding.js'
import worker from './worker.js'
export default {
  ...worker,
  async fetch(request, bindings, execution) {
    if (new URL(request.url).pathname !== '/held') return worker.fetch(request, bindings, execution)
    return Response.json(await heldBytes())
  },
}
`

const measured = ({ script, ...rest }: WorkerModules): WorkerModules => ({
  ...rest,
  script: { name: 'driver.js', text: DRIVER },
  beside: [{ name: 'holding.js', text: HOLDING }, script],
})

describe.skipIf(!edgeExists())('on workerd', () => {
  let edge: Edge
  let worker: Workerd
  let received = 0
  /** Takes whatever is stored, and keeps nothing. */
  const storage = createServer(async (request, response) => {
    for await (const bytes of request) received += bytes.length
    response.setHeader('etag', '"e"')
    response.end('<A><UploadId>u</UploadId><ETag>e</ETag></A>')
  })

  beforeAll(async () => {
    edge = await startEdge()
    await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(storage.address() as AddressInfo).port}`
    const yaml = `general_settings:
  embeddings_batch_enabled: true
  blob_storage: { endpoint: '${endpoint}', bucket: b, access_key_id: id, secret_access_key: secret }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`
    const modules = measured(withConfig(await workerModules(), yaml))
    worker = await startWorkerd(modules, edge.variables, { v8Flags: ['--expose-gc', '--max-heap-size=32'] })
  })
  afterAll(async () => {
    await worker?.stop()
    await edge?.close()
    storage.close()
  })

  it('bodies of one key have an eighth of the memory of an isolate: each is there several times', async () => {
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway.test\r\nauthorization: Bearer ${MASTER_KEY}\r\ncontent-type: application/json\r\n`
    let text = ''
    const sockets = [0, 1, 2].map(() => {
      const socket = connect({ port: worker.port, host: '127.0.0.1' })
      socket.on('error', () => {})
      socket.on('data', (bytes) => (text += bytes.toString('latin1')))
      socket.write(`${head}content-length: ${7 * MIB}\r\n\r\n{`)
      return socket
    })
    await expect.poll(() => text).toContain('too_many_bytes_in_flight')
    for (const socket of sockets) socket.destroy()
  })

  it('an upload is never in memory but for two parts', { timeout: 60_000 }, async () => {
    const held = async () => (await fetch(`${worker.url}/held`)).json()
    const pieces = Math.ceil((48 * MIB) / PIECE.byteLength)
    const found: number[] = []
    async function* body() {
      yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="in.jsonl"\r\n\r\n')
      for (let piece = 1; piece <= pieces; piece++) {
        yield PIECE
        if (piece % Math.floor(pieces / 4) === 0) {
          found.push(await held())
        }
      }
      yield Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b--\r\n')
    }
    const response = await fetch(`${worker.url}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'multipart/form-data; boundary=b' },
      body: body(),
      duplex: 'half',
    } as unknown as RequestInit)
    expect([response.status, (await response.json()).bytes]).toEqual([200, pieces * PIECE.byteLength])
    expect(found.length).toBeGreaterThan(3)
    expect(received).toBeGreaterThan(48 * MIB)
    expect(Math.max(...found)).toBeGreaterThan(0)
    expect(Math.max(...found)).toBeLessThan(16 * MIB)
  })
})
